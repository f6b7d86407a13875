package e2e

import (
	endian "encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lakeWatch hears of every file that comes, is complete or goes in a folder and
// all folders below it, at once and in order.
type lakeWatch struct {
	file *os.File
	hear func(path string)
	dirs map[int32]string
	done chan struct{}
	err  error // read after done is closed
}

const lakeEvents = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_DELETE

// watchLake begins; hear is called from one goroutine until close.
func watchLake(dir string, hear func(path string)) (*lakeWatch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", dir, err)
	}
	w := &lakeWatch{file: os.NewFile(uintptr(fd), "inotify"), hear: hear, dirs: map[int32]string{}, done: make(chan struct{})}
	if err := w.add(dir, func(string) {}); err != nil {
		return nil, errors.Join(err, w.file.Close())
	}
	go w.run()
	return w, nil
}

// add watches a folder and those below it. Files that were there before the
// watch was are told.
func (w *lakeWatch) add(dir string, hear func(string)) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			hear(path)
			return nil
		}
		id, err := w.watch(path)
		switch {
		case errors.Is(err, os.ErrClosed):
			return fs.SkipAll // nobody listens any more
		case err != nil && !errors.Is(err, unix.ENOENT):
			return fmt.Errorf("watching %s: %w", path, err)
		}
		w.dirs[int32(id)] = path
		return nil
	})
}

// watch adds one folder. It fails with os.ErrClosed after close, whose number
// another file may have by then.
func (w *lakeWatch) watch(path string) (id int, err error) {
	conn, err := w.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	if conn.Control(func(fd uintptr) { id, err = unix.InotifyAddWatch(int(fd), path, lakeEvents) }) != nil {
		return 0, os.ErrClosed // the one reason why Control does not call
	}
	return id, err
}

func (w *lakeWatch) run() {
	defer close(w.done)
	buffer := make([]byte, 64<<10)
	for {
		n, err := w.file.Read(buffer)
		if err != nil {
			if !errors.Is(err, os.ErrClosed) {
				w.err = fmt.Errorf("watching the lake: %w", err)
			}
			return
		}
		for events := buffer[:n]; len(events) >= unix.SizeofInotifyEvent; {
			id, mask := int32(endian.NativeEndian.Uint32(events)), endian.NativeEndian.Uint32(events[4:])
			size := unix.SizeofInotifyEvent + int(endian.NativeEndian.Uint32(events[12:]))
			name := strings.TrimRight(string(events[unix.SizeofInotifyEvent:size]), "\x00")
			events = events[size:]
			path := filepath.Join(w.dirs[id], name)
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				w.err = errors.New("watching the lake: events were lost")
			case mask&(unix.IN_CREATE|unix.IN_ISDIR) == unix.IN_CREATE|unix.IN_ISDIR:
				if err := w.add(path, w.hear); err != nil {
					w.err = err
				}
			case mask&unix.IN_IGNORED == 0:
				w.hear(path)
			}
		}
	}
}

func (w *lakeWatch) close() error {
	err := w.file.Close()
	<-w.done
	return errors.Join(err, w.err)
}
