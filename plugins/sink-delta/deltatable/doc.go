// Package deltatable reads and writes the rows of Delta tables as Arrow record
// batches: create and alter, append, overwrite, merge and delete with an idempotency
// key, scans of a pinned version, and the packing of small files (Optimize).
//
// The protocol is package deltalog's and the bytes are package store's; this
// package adds Parquet and Arrow. It must not know what the rows mean, who asks
// for them or how they travel: no plugin protocol, no configuration language,
// no source.
//
// A write goes in three steps, so that parts can be written in parallel and a
// part that broke can be left out after it was written:
//
//	w, err := table.Begin(ctx, deltatable.WriteSpec{Mode: deltatable.Append, Schema: schema})
//	part, err := w.Part(ctx)
//	err = part.Write(batch)                  // any number of batches
//	done, err := part.Close()                // files are there, nothing is committed
//	result, err := w.Commit(ctx, []string{done.Token}, "")
//
// A scan is pulled:
//
//	rows, err := snapshot.Scan(ctx, deltatable.ScanSpec{Columns: []string{"id"}})
//	defer rows.Close()
//	for {
//		batch, err := rows.Next(ctx) // io.EOF at the end; the caller releases the batch
//	}
//
// Record batches belong to whoever got them: Next hands them over, Write only
// borrows.
package deltatable
