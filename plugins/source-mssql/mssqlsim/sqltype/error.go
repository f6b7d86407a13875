package sqltype

import "fmt"

// Error is an error as SQL Server reports it: the number is what a client acts on.
type Error struct {
	Number  int32
	State   uint8
	Class   uint8 // severity: 11 to 16 fail the statement, 20 and up the connection
	Message string
	// Line is that of the statement in its batch or procedure, from 1; 0 is not known. Schema and Procedure name the
	// procedure, when it is one.
	Line              int32
	Schema, Procedure string
	// First is an error that is sent before this one: some statements tell the reason and then that they failed.
	First *Error
	// Undone tells that the statement was one that changes rows, and that its changes were undone: a message says so behind the
	// error.
	Undone bool
}

func (e *Error) Error() string { return e.Message }

// Errorf gives an error with the severity of its number, and state 1 where no other is known. Numbers and texts are those of
// sys.messages (Microsoft: Database engine events and errors).
func Errorf(number int32, format string, args ...any) *Error {
	e := &Error{Number: number, State: 1, Class: 16, Message: fmt.Sprintf(format, args...)}
	switch number {
	case 102, 105, 107, 108, 109, 110, 111, 113, 116, 119, 120, 121, 127, 128, 129, 131, 134, 135, 136, 137, 141, 144, 145, 147, 148, 154, 155, 156, 157, 159, 164, 168, 169, 173, 174, 178, 179,
		189, 191, 193, 195, 258, 310, 319, 324, 343, 1007, 1011, 1012, 1013, 1014, 1015, 1020, 1023, 1031, 1033, 1038, 1046, 1047, 1048, 1060, 1065, 1087, 4145,
		8155, 8156, 8158, 8159, 10704, 10709, 10710, 10711, 10713, 10714, 10741, 10742, 10744, 10752, 10753, 10756, 10759:
		e.Class = 15 // of what is wrong with the text of a batch
	case 266, 515:
		e.State = 2
	case 547:
		e.State = 0
	case 3701:
		e.Class, e.State = 11, 5
	}
	return e
}

// NumberUnsupported is the number of every error that says "the simulator does not understand this". It lies in
// the range SQL Server leaves to users, so it cannot be mistaken for an error of the server.
const NumberUnsupported = 50001

// LongestValue is the greatest number of bytes of a value that an expression may make. A server's limit is 2^31 - 1, which
// here a single statement could fill the memory with.
const LongestValue = 64 << 20

// TooLong is the error of a longer one.
func TooLong() *Error { return Unsupported("values of more than %d bytes", LongestValue) }

// Unsupported names what the simulator does not understand; a statement with it fails as a whole.
func Unsupported(format string, args ...any) *Error {
	return Errorf(NumberUnsupported, "mssqlsim does not understand "+format, args...)
}
