package host_test

// freeze and the orphan test need signals.
func freeze() { panic("no process is frozen on Windows") }

func runHostForOrphanTest() { panic("no host is orphaned on Windows") }
