package plugin

// CodeCrashed is the code of the diagnostic, of kind transient, that a call was
// answered with because the process of its plugin ended. Its Data tells plugin, pid
// and exit. The next call finds a new process.
const CodeCrashed = "plugin.crashed"

// CodeWriteLost is that of a write whose process ended. Unlike other transient
// errors it stays: no part and no commit of that write is answered any more, and
// it has to be begun again.
const CodeWriteLost = "plugin.write_lost"
