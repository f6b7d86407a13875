package cdc

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"

// Release gives the year of the server's version.
func (s *Session) Release() tsql.Release { return s.srv.release() }

func (s *Server) release() tsql.Release {
	switch s.Version {
	case V2016:
		return 2016
	case V2017:
		return 2017
	case V2019:
		return 2019
	case Azure:
		return tsql.Newest
	}
	return 2022
}
