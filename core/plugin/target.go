package plugin

import "github.com/pipectl/pipectl/core/diag"

// SnapshotsApp is the app id under which a bronze table counts the whole
// snapshots that it was given, from 0, in the commits that hold their rows. A
// target built from one records the number under the same id in its own commit:
// the position of a snapshot does not tell it from one that was read again while
// the source stood still.
const SnapshotsApp = "pipectl.snapshots"

// SnapshotsOf is the app id under which the same number stands beside it, for one
// table by its id: a bronze that is made anew counts from 0 again, and a number that
// a target has of another table tells nothing of it. A bronze without it has had its
// snapshots from an older release; then SnapshotsApp counts.
func SnapshotsOf(bronzeID string) string { return SnapshotsApp + "." + bronzeID }

// MergesApp is the app id under which a silver counts its merges in its target,
// from 0, in the commits that hold them. A merge that changes no row is counted,
// too: it may have had a row come and go, and a call that began before it would
// bring that row back. Whoever holds a target against its position asks for it.
const MergesApp = "pipectl.silver"

// LoadAnew is the way out of a bronze table that cannot be gone on with, in the
// words of every message about one. Both are needed: under its old app_id a
// stream goes on in its old table, and under another one in the old table it
// would write changes twice.
const LoadAnew = "To load the table anew, give the stream, and what follows it, another target, and the stream another app_id where it has one."

// Lost compares a target with the position that was stored of it: an error of
// kind stale when the target is gone, at an older version than the one by which
// its changes were applied, or without the last merge of them: a table that was
// put back is brought to any version by the commits of others. target was asked
// for with MergesApp. A position without a version or a merge, as older releases
// stored it, tells nothing of it, nor does a target that forgets its merges. A target is ahead after a run that died before
// it stored the position. Whoever reads the position after the table sees a target
// that another run has brought further meanwhile as one that lost rows, and has to
// look at the table again.
func (p TargetPosition) Lost(target TableState) error {
	name := target.Table.Name
	switch {
	case p.Applied == "":
		return nil
	case !target.Exists:
		return diag.Errorf(diag.KindStale, "silver.table_gone",
			"Restore the table. To build it anew from bronze, give the silver another target.",
			"%s does not exist, but its changes up to %s were applied to it", name, p.Applied).Err()
	case p.Version != nil && target.Version < *p.Version:
		return rowsLost("%s is at version %d, but its changes up to %s were applied by version %d", name, target.Version, p.Applied, *p.Version)
	case p.Merge == nil:
		return nil
	}
	switch last, counted := target.Txns[MergesApp]; {
	case !counted && target.TxnsExpire:
		return nil
	case !counted:
		return rowsLost("%s counts no merges in version %d, but its changes up to %s were applied by that with number %d", name, target.Version, p.Applied, *p.Merge)
	case last < *p.Merge:
		return rowsLost("The last merge of %s in version %d has the number %d, but its changes up to %s were applied by that with number %d", name, target.Version, last, p.Applied, *p.Merge)
	}
	return nil
}

func rowsLost(format string, args ...any) error {
	return diag.Errorf(diag.KindStale, "silver.rows_lost",
		"It was put back to an older version, or files of its log were removed: rows that were applied are missing. Restore it. To build it anew from bronze, give the silver another target.",
		format, args...).Err()
}
