package plugin

// Release is the version of this release of pipectl; bundled plugins carry it.
const Release = "0.1.0"
