// Package unprivileged lets tests meet folders that they may not write, whoever
// runs them: root may write everywhere. It knows nothing of what is tested.
package unprivileged
