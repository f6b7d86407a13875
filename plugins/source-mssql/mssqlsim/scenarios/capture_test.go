package scenarios

import (
	"context"
	"fmt"
)

// The fence is a captured table that scenarios do not see: its newest row is in its change table when capture has come
// to all that was committed before, since changes are captured in the order of their commits. It is made when a
// scenario waits for capture the first time.
const (
	fenceSchema = "CREATE SCHEMA fence"
	fenceTable  = `CREATE TABLE fence.mark (n int NOT NULL CONSTRAINT PK_mark PRIMARY KEY);
		EXEC sys.sp_cdc_enable_table N'fence', N'mark', @role_name = NULL`
)

// capture waits until the change tables have all that is committed.
func (r *run) capture(ctx context.Context) error {
	if r.fence == 0 {
		for _, stmt := range []string{fenceSchema, fenceTable} {
			if err := r.exec(ctx, stmt); err != nil {
				return err
			}
		}
	}
	r.fence++
	if err := r.exec(ctx, fmt.Sprintf("INSERT INTO fence.mark VALUES (%d)", r.fence)); err != nil {
		return err
	}
	if err := r.server.polling(ctx, r.database); err != nil {
		return err
	}
	return r.count(ctx, fmt.Sprintf("SELECT COUNT(*) FROM cdc.fence_mark_CT WHERE n = %d", r.fence))
}

// idle waits until capture has written an entry without changes.
func (r *run) idle(ctx context.Context) error {
	var last []byte
	db, err := r.admin(ctx)
	if err == nil {
		err = db.conn.QueryRowContext(ctx, "SELECT ISNULL(MAX(start_lsn), 0x00) FROM cdc.lsn_time_mapping").Scan(&last)
	}
	if err == nil {
		err = r.server.idle(ctx, r.database)
	}
	if err != nil {
		return err
	}
	return r.count(ctx, fmt.Sprintf("SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE tran_id = 0x00 AND start_lsn > 0x%X", last))
}

// count waits until a statement counts something.
func (r *run) count(ctx context.Context, stmt string) error {
	db, err := r.admin(ctx)
	if err != nil {
		return err
	}
	return r.until(ctx, func() error {
		var n int
		if err := db.conn.QueryRowContext(ctx, stmt).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("capture has not come so far; does its job run? (%s)", stmt)
		}
		return nil
	})
}

// admin gives a connection of the server's own login that no scenario has.
func (r *run) admin(ctx context.Context) (*session, error) {
	if s := r.sessions[""]; s != nil {
		return s, nil
	}
	s, err := connect(ctx, r.server.dsn(r.database, ""))
	if err != nil {
		return nil, fmt.Errorf("connecting besides the scenario's sessions: %w", err)
	}
	r.sessions[""] = s
	return s, nil
}

func (r *run) exec(ctx context.Context, stmt string) error {
	s, err := r.admin(ctx)
	if err != nil {
		return err
	}
	if _, err := s.conn.ExecContext(ctx, stmt); err != nil {
		return fmt.Errorf("%s: %w", stmt, err)
	}
	return nil
}

// login makes a login of the name, under the database's, and its user.
func (r *run) login(ctx context.Context, name string) error {
	login := r.database + "_" + name
	return r.exec(ctx, fmt.Sprintf("CREATE LOGIN [%s] WITH PASSWORD = '%s', CHECK_POLICY = OFF; CREATE USER [%s] FOR LOGIN [%s]", login, loginPassword, name, login))
}
