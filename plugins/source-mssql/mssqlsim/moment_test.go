package mssqlsim

import "testing"

// Dates and times: conversions in all styles, and the functions on them.
func TestMoments(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	const d = "CAST('2026-03-05T14:07:09.123' AS datetime)"
	answers(t, conn, []documented{
		// Microsoft: CAST and CONVERT (Transact-SQL), Date and time styles
		{"styles 0 to 4", "SELECT CONVERT(varchar(40)," + d + ",0), CONVERT(varchar(40)," + d + ",1), CONVERT(varchar(40)," + d + ",2), CONVERT(varchar(40)," + d + ",3), CONVERT(varchar(40)," + d + ",4)", "Mar  5 2026  2:07PM|03/05/26|26.03.05|05/03/26|05.03.26"},
		{"styles 5 to 9", "SELECT CONVERT(varchar(40)," + d + ",5), CONVERT(varchar(40)," + d + ",6), CONVERT(varchar(40)," + d + ",7), CONVERT(varchar(40)," + d + ",8), CONVERT(varchar(40)," + d + ",9)", "05-03-26|05 Mar 26|Mar 05, 26|14:07:09|Mar  5 2026  2:07:09:123PM"},
		{"styles 10 to 14", "SELECT CONVERT(varchar(40)," + d + ",10), CONVERT(varchar(40)," + d + ",11), CONVERT(varchar(40)," + d + ",12), CONVERT(varchar(40)," + d + ",13), CONVERT(varchar(40)," + d + ",14)", "03-05-26|26/03/05|260305|05 Mar 2026 14:07:09:123|14:07:09:123"},
		{"styles 100 to 106", "SELECT CONVERT(varchar(40)," + d + ",100), CONVERT(varchar(40)," + d + ",101), CONVERT(varchar(40)," + d + ",102), CONVERT(varchar(40)," + d + ",103), CONVERT(varchar(40)," + d + ",104), CONVERT(varchar(40)," + d + ",105), CONVERT(varchar(40)," + d + ",106)", "Mar  5 2026  2:07PM|03/05/2026|2026.03.05|05/03/2026|05.03.2026|05-03-2026|05 Mar 2026"},
		{"styles 107 to 114", "SELECT CONVERT(varchar(40)," + d + ",107), CONVERT(varchar(40)," + d + ",108), CONVERT(varchar(40)," + d + ",109), CONVERT(varchar(40)," + d + ",110), CONVERT(varchar(40)," + d + ",111), CONVERT(varchar(40)," + d + ",112), CONVERT(varchar(40)," + d + ",113), CONVERT(varchar(40)," + d + ",114)", "Mar 05, 2026|14:07:09|Mar  5 2026  2:07:09:123PM|03-05-2026|2026/03/05|20260305|05 Mar 2026 14:07:09:123|14:07:09:123"},
		{"styles 20 to 25", "SELECT CONVERT(varchar(40)," + d + ",20), CONVERT(varchar(40)," + d + ",21), CONVERT(varchar(40)," + d + ",22), CONVERT(varchar(40)," + d + ",23), CONVERT(varchar(40)," + d + ",24), CONVERT(varchar(40)," + d + ",25)", "2026-03-05 14:07:09|2026-03-05 14:07:09.123|03/05/26  2:07:09 PM|2026-03-05|14:07:09|2026-03-05 14:07:09.123"},
		{"styles 120 to 127", "SELECT CONVERT(varchar(40)," + d + ",120), CONVERT(varchar(40)," + d + ",121), CONVERT(varchar(40)," + d + ",126), CONVERT(varchar(40)," + d + ",127)", "2026-03-05 14:07:09|2026-03-05 14:07:09.123|2026-03-05T14:07:09.123|2026-03-05T14:07:09.123"},
		{"an unknown style", "SELECT CONVERT(varchar(40)," + d + ",99)", "error 281"},
		{"default styles of the other types", "SELECT CAST(CAST('2026-03-05' AS date) AS varchar(30)), CAST(CAST('14:07' AS time(2)) AS varchar(30)), CAST(CAST('2026-03-05 14:07' AS datetime2(3)) AS varchar(30)), CAST(CAST('2026-03-05 14:07 +01:00' AS datetimeoffset(0)) AS varchar(40)), CAST(CAST('2026-03-05 14:07' AS smalldatetime) AS varchar(30))", "2026-03-05|14:07:00.00|2026-03-05 14:07:00.000|2026-03-05 14:07:00 +01:00|Mar  5 2026  2:07PM"},
		{"style 0 of datetime2", "SELECT CONVERT(varchar(30), CAST('2026-03-05 14:07' AS datetime2(3)), 0), CONVERT(varchar(30), CAST('2026-03-05' AS date), 101), CONVERT(varchar(30), CAST('14:07:09.5' AS time(1)), 100), CONVERT(varchar(30), CAST('2026-03-05 14:07:09.1234567' AS datetime2), 109)", "Mar  5 2026  2:07PM|03/05/2026|2:07PM|Mar  5 2026  2:07:09.1234567PM"},
		{"text in styles", "SELECT CONVERT(date,'03/05/26',1), CONVERT(date,'05.03.2026',104), CONVERT(date,'05/03/2026',103), CONVERT(datetime,'05 Mar 2026 14:07:09:123',113), CONVERT(date,'26.03.05',2)", "2026-03-05 00:00:00 +00:00|2026-03-05 00:00:00 +00:00|2026-03-05 00:00:00 +00:00|2026-03-05 14:07:09.123 +00:00|2026-03-05 00:00:00 +00:00"},
		{"text in a style that it has not", "SELECT CONVERT(date,'31/12/2026',101)", "error 241"},
		// Microsoft: date (Transact-SQL), time, datetime, datetime2: string literal formats
		{"month, day, year", "SELECT CAST('3/5/2026' AS datetime), CAST('03-05-2026' AS date), CAST('3.5.26' AS date), CAST('Mar 5 2026' AS date), CAST('5 March, 2026' AS date), CAST('March 5, 2026 2:07PM' AS datetime2(0))", "2026-03-05 00:00:00 +00:00|2026-03-05 00:00:00 +00:00|2026-03-05 00:00:00 +00:00|2026-03-05 00:00:00 +00:00|2026-03-05 00:00:00 +00:00|2026-03-05 14:07:00 +00:00"},
		{"unseparated", "SELECT CAST('20260305' AS date), CAST('260305' AS date), CAST('20260305 14:07:09.5' AS datetime2(1))", "2026-03-05 00:00:00 +00:00|2026-03-05 00:00:00 +00:00|2026-03-05 14:07:09.5 +00:00"},
		{"clock with AM and PM", "SELECT CAST('2:07 PM' AS time(0)), CAST('12:00AM' AS time(0)), CAST('12:30 pm' AS time(0)), CAST('4 AM' AS time(0))", "0001-01-01 14:07:00 +00:00|0001-01-01 00:00:00 +00:00|0001-01-01 12:30:00 +00:00|0001-01-01 04:00:00 +00:00"},
		{"no such day", "SELECT CAST('2026-02-30' AS date)", "error 241"},
		{"no such day of datetime", "SELECT CAST('2026-02-30' AS datetime)", "error 242"},
		{"not a date", "SELECT CAST('abc' AS datetime)", "error 241"},
		{"before 1753", "SELECT CAST('1752-12-31' AS datetime)", "error 242"},
		{"smalldatetime out of range from text", "SELECT CAST('2090-01-01' AS smalldatetime)", "error 242"},
		{"not a smalldatetime", "SELECT CAST('abc' AS smalldatetime)", "error 295"},
		{"too many digits for datetime", "SELECT CAST('2026-01-01T00:00:00.1234567' AS datetime)", "error 241"},
		{"an offset that datetime has not", "SELECT CAST('2026-01-01T00:00:00+02:00' AS datetime)", "error 241"},
		{"an offset that datetime2 drops", "SELECT CAST('2026-01-01T05:00:00+02:00' AS datetime2(0))", "2026-01-01 05:00:00 +00:00"},
		{"datetime rounds", "SELECT CAST('2026-01-01 23:59:59.999' AS datetime), CAST('2026-01-01 00:00:00.995' AS datetime), CAST('2026-01-01 00:00:00.998' AS datetime)", "2026-01-02 00:00:00 +00:00|2026-01-01 00:00:00.997 +00:00|2026-01-01 00:00:00.997 +00:00"},
		// Microsoft: smalldatetime (Transact-SQL), time (Transact-SQL), datetimeoffset (Transact-SQL)
		{"29.998 seconds are rounded down, 29.999 up", "SELECT CAST('2024-01-01 12:34:29.998' AS smalldatetime), CAST('2024-01-01 12:34:29.999' AS smalldatetime), CAST('2007-05-08 12:59:59.998' AS smalldatetime)", "2024-01-01 12:34:00 +00:00|2024-01-01 12:35:00 +00:00|2007-05-08 13:00:00 +00:00"},
		{"of a time of each type", "SELECT CAST(CAST('2024-01-01 12:34:29.999' AS datetime) AS smalldatetime), CAST(CAST('2024-01-01 12:34:29.999' AS datetime2(3)) AS smalldatetime), CAST(CAST('12:34:29.999' AS time(3)) AS smalldatetime), CAST(CAST('2024-01-01 12:34:29.999 +10:00' AS datetimeoffset(3)) AS smalldatetime)", "2024-01-01 12:35:00 +00:00|2024-01-01 12:35:00 +00:00|1900-01-01 12:35:00 +00:00|2024-01-01 12:35:00 +00:00"},
		{"and down", "SELECT CAST(CAST('2024-01-01 12:34:29.998' AS datetime) AS smalldatetime), CAST(CAST('2024-01-01 12:34:29.998' AS datetime2(7)) AS smalldatetime), CAST(CAST('12:34:29.998' AS time(5)) AS smalldatetime), CAST(CAST('2024-01-01 12:34:29.998 +10:00' AS datetimeoffset(4)) AS smalldatetime)", "2024-01-01 12:34:00 +00:00|2024-01-01 12:34:00 +00:00|1900-01-01 12:34:00 +00:00|2024-01-01 12:34:00 +00:00"},
		{"time beyond the hour", "SELECT CAST(CAST('12:59:59.9999' AS time(4)) AS smalldatetime)", "1900-01-01 13:00:00 +00:00"},
		{"what lies between is not documented", "SELECT CAST(CAST('2024-01-01 12:34:29.9985' AS datetime2(4)) AS smalldatetime)", "refused: mssqlsim does not understand a time between 29.998 and 29.999 seconds as smalldatetime, which Microsoft's page rounds neither up nor down"},
		{"smalldatetime rounds", "SELECT CAST('2026-01-01 12:35:29.998' AS smalldatetime), CAST('2026-01-01 12:35:30' AS smalldatetime)", "2026-01-01 12:35:00 +00:00|2026-01-01 12:36:00 +00:00"},
		{"time rounds", "SELECT CAST(CAST('12:34:56.1274567' AS time(7)) AS time(2)), CAST(CAST('23:59:59.9999999' AS time(7)) AS time(0))", "0001-01-01 12:34:56.13 +00:00|0001-01-01 00:00:00 +00:00"},
		{"datetime2 from datetime", "SELECT CAST(CAST('2026-01-01 00:00:00.123' AS datetime) AS datetime2(7))", "2026-01-01 00:00:00.1233333 +00:00"},
		{"datetime2 to datetime out of range", "SELECT CAST(CAST('0001-01-01' AS datetime2) AS datetime)", "error 242"},
		{"datetimeoffset to others", "SELECT CAST(CAST('2026-01-01 05:00 +02:00' AS datetimeoffset(0)) AS datetime2(0)), CAST(CAST('2026-01-01 05:00 +02:00' AS datetimeoffset(0)) AS date)", "2026-01-01 05:00:00 +00:00|2026-01-01 00:00:00 +00:00"},
		{"datetimeoffset compares instants", "SELECT CASE WHEN CAST('2026-01-01 05:00 +02:00' AS datetimeoffset) = CAST('2026-01-01 03:00 +00:00' AS datetimeoffset) THEN 1 ELSE 0 END", "1"},
		{"number of a datetime", "SELECT CAST(CAST('1900-01-02 12:00' AS datetime) AS float), CAST(CAST('1900-01-02 12:00' AS datetime) AS int), CAST(1.5 AS datetime)", "1.5|2|1900-01-02 12:00:00 +00:00"},
		// Microsoft: DATEADD (Transact-SQL)
		{"DATEADD types", "SELECT DATEADD(day,1,'2026-01-31'), DATEADD(month,1,CAST('2026-01-31' AS date)), DATEADD(hour,1,CAST('23:30' AS time(0)))", "~datetime 2026-02-01 00:00:00 +00:00|date 2026-02-28 00:00:00 +00:00|time(0,0) 0001-01-01 00:30:00 +00:00"},
		{"DATEADD of fine parts", "SELECT DATEADD(nanosecond,150,CAST('2026-01-01' AS datetime2)), DATEADD(microsecond,1,CAST('2026-01-01' AS datetime2)), DATEADD(nanosecond,149,CAST('2026-01-01' AS datetime2))", "2026-01-01 00:00:00.0000002 +00:00|2026-01-01 00:00:00.000001 +00:00|2026-01-01 00:00:00.0000001 +00:00"},
		{"DATEADD microseconds of datetime", "SELECT DATEADD(microsecond,1,GETDATE())", "error 9810"},
		{"DATEADD cuts its number", "SELECT DATEADD(day,1.9,CAST('2026-01-01' AS date))", "2026-01-02 00:00:00 +00:00"},
		// Microsoft: DATEADD (Transact-SQL), Return values for a smalldatetime date and a second or fractional seconds datepart
		{"DATEADD milliseconds of smalldatetime", "SELECT DATEADD(millisecond,29998,CAST('2026-01-01 00:00' AS smalldatetime)), DATEADD(millisecond,29999,CAST('2026-01-01 00:00' AS smalldatetime)), DATEADD(millisecond,-30001,CAST('2026-01-01 00:01' AS smalldatetime)), DATEADD(millisecond,-30002,CAST('2026-01-01 00:01' AS smalldatetime))", "2026-01-01 00:00:00 +00:00|2026-01-01 00:01:00 +00:00|2026-01-01 00:01:00 +00:00|2026-01-01 00:00:00 +00:00"},
		{"DATEADD seconds of smalldatetime", "SELECT DATEADD(second,30,CAST('2026-01-01 00:00' AS smalldatetime)), DATEADD(second,29,CAST('2026-01-01 00:00' AS smalldatetime))", "2026-01-01 00:01:00 +00:00|2026-01-01 00:00:00 +00:00"},
		{"DATEADD quarter, week, weekday, dayofyear", "SELECT DATEADD(qq,1,CAST('2026-11-30' AS date)), DATEADD(wk,1,CAST('2026-01-01' AS date)), DATEADD(dw,1,CAST('2026-01-01' AS date)), DATEADD(dy,1,CAST('2026-01-01' AS date))", "2027-02-28 00:00:00 +00:00|2026-01-08 00:00:00 +00:00|2026-01-02 00:00:00 +00:00|2026-01-02 00:00:00 +00:00"},
		{"DATEADD out of range", "SELECT DATEADD(year,10000,CAST('2026-01-01' AS date))", "error 517"},
		{"DATEADD far out of range", "SELECT DATEADD(week,2147483647,CAST('2026-01-01' AS datetime2))", "error 517"},
		{"DATEADD years far out of range", "SELECT DATEADD(year,2147483647,CAST('2026-01-01' AS datetime2))", "error 517"},
		{"DATEADD before 1753", "SELECT DATEADD(year,-1000,CAST('2026-01-01' AS datetime))", "error 517"},
		{"DATEADD number too large", "SELECT DATEADD(day,3000000000,CAST('2026-01-01' AS date))", "error 8115"},
		{"DATEADD clock part of a date", "SELECT DATEADD(hour,1,CAST('2026-01-01' AS date))", "error 9810"},
		{"DATEADD day of a time", "SELECT DATEADD(day,1,CAST('10:00' AS time))", "error 9810"},
		{"DATEADD unknown part", "SELECT DATEADD(foo,1,GETDATE())", "error 155"},
		// Microsoft: DATEDIFF (Transact-SQL)
		{"DATEDIFF counts borders", "SELECT DATEDIFF(year,'2025-12-31 23:59:59.9999999','2026-01-01'), DATEDIFF(quarter,'2025-12-31','2026-01-01'), DATEDIFF(month,'2025-12-31','2026-01-01'), DATEDIFF(day,'2025-12-31 23:59','2026-01-01'), DATEDIFF(week,'2026-01-03','2026-01-04'), DATEDIFF(hour,'2025-12-31 23:59','2026-01-01'), DATEDIFF(weekday,'2025-12-31','2026-01-02')", "1|1|1|1|1|1|2"},
		{"DATEDIFF overflow", "SELECT DATEDIFF(millisecond,'2000-01-01','2026-01-01')", "error 535"},
		{"DATEDIFF_BIG", "SELECT DATEDIFF_BIG(nanosecond,'2026-01-01','2026-01-02')", "~bigint 86400000000000"},
		{"DATEDIFF_BIG overflow", "SELECT DATEDIFF_BIG(nanosecond,'0001-01-01','9999-12-31')", "error 535"},
		{"DATEDIFF of offsets", "SELECT DATEDIFF(hour,CAST('2026-01-01 00:00 +02:00' AS datetimeoffset),CAST('2026-01-01 00:00 +00:00' AS datetimeoffset))", "2"},
		{"DATEDIFF of times", "SELECT DATEDIFF(minute,CAST('10:00' AS time),CAST('11:30' AS time))", "90"},
		{"DATEDIFF iso_week", "SELECT DATEDIFF(iso_week,'2026-01-01','2026-01-08')", "error 9810"},
		// Microsoft: DATEPART, DATENAME
		{"DATEPART", "SELECT DATEPART(iso_week,'2026-01-01'), DATEPART(isowk,'2027-01-01'), DATEPART(week,'2026-01-04'), DATEPART(weekday,'2026-03-05'), DATEPART(dayofyear,'2026-03-05'), DATEPART(quarter,'2026-11-01'), DATEPART(ns,CAST('10:00:00.1234567' AS time)), DATEPART(mcs,CAST('10:00:00.1234567' AS time))", "1|53|2|5|64|4|123456700|123456"},
		{"DATEFIRST", "SET DATEFIRST 1; SELECT DATEPART(weekday,'2026-03-05'), DATEPART(week,'2026-01-05'), @@DATEFIRST, DATEDIFF(week,'2026-01-03','2026-01-04')", "4|2|1|1"},
		{"DATEPART of a date's clock", "SELECT DATEPART(hour,CAST('2026-01-01' AS date))", "error 9810"},
		{"DATEPART of a time's day", "SELECT DATEPART(year,CAST('10:00' AS time))", "error 9810"},
		{"DATEPART tzoffset", "SELECT DATEPART(tzoffset,CAST('2026-01-01 00:00 -05:30' AS datetimeoffset))", "-330"},
		{"DATENAME", "SELECT DATENAME(month,'2026-03-05'), DATENAME(weekday,'2026-03-05'), DATENAME(year,'2026-03-05'), DATENAME(tz,CAST('2026-01-01 00:00 -05:30' AS datetimeoffset))", "~nvarchar(30) March|nvarchar(30) Thursday|nvarchar(30) 2026|nvarchar(30) -05:30"},
		{"YEAR, MONTH, DAY", "SELECT YEAR('2026-03-05'), MONTH(0), DAY(CAST('2026-03-05' AS date))", "2026|1|5"},
		{"EOMONTH", "SELECT EOMONTH('2026-02-10'), EOMONTH('2026-02-10', 1), EOMONTH(NULL)", "~date 2026-02-28 00:00:00 +00:00|date 2026-03-31 00:00:00 +00:00|date NULL"},
		{"FROMPARTS", "SELECT DATEFROMPARTS(2026,3,5), DATETIME2FROMPARTS(2026,3,5,14,7,9,123,3), DATETIMEFROMPARTS(2026,3,5,14,7,9,123), TIMEFROMPARTS(14,7,9,0,0), SMALLDATETIMEFROMPARTS(2026,3,5,14,7), DATETIMEOFFSETFROMPARTS(2026,3,5,14,7,9,0,2,30,0)", "~date 2026-03-05 00:00:00 +00:00|datetime2(0,3) 2026-03-05 14:07:09.123 +00:00|datetime 2026-03-05 14:07:09.123 +00:00|time(0,0) 0001-01-01 14:07:09 +00:00|smalldatetime 2026-03-05 14:07:00 +00:00|datetimeoffset(0,0) 2026-03-05 14:07:09 +02:30"},
		{"FROMPARTS of no date", "SELECT DATEFROMPARTS(2026,2,30)", "error 289"},
		{"FROMPARTS of NULL", "SELECT DATEFROMPARTS(2026,NULL,1)", "NULL"},
		{"ISDATE", "SELECT ISDATE('2026-03-05'), ISDATE('2026-13-05'), ISDATE('abc'), ISDATE(NULL)", "1|0|0|0"},
		{"DATETRUNC", "SELECT DATETRUNC(month,CAST('2026-03-05 14:07:09' AS datetime2(0))), DATETRUNC(week,CAST('2026-03-05' AS date)), DATETRUNC(iso_week,CAST('2026-03-05' AS date)), DATETRUNC(hour,CAST('14:07' AS time(0))), DATETRUNC(quarter,CAST('2026-03-05' AS date))", "2026-03-01 00:00:00 +00:00|2026-03-01 00:00:00 +00:00|2026-03-02 00:00:00 +00:00|0001-01-01 14:00:00 +00:00|2026-01-01 00:00:00 +00:00"},
		{"DATE_BUCKET", "SELECT DATE_BUCKET(week,1,CAST('2026-03-05' AS date)), DATE_BUCKET(minute,15,CAST('2026-03-05 14:07' AS datetime2(0))), DATE_BUCKET(month,2,CAST('2026-04-05' AS date))", "2026-03-02 00:00:00 +00:00|2026-03-05 14:00:00 +00:00|2026-03-01 00:00:00 +00:00"},
		{"AT TIME ZONE", "SELECT CAST('2026-07-01 12:00' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time', CAST('2026-07-01 12:00 +00:00' AS datetimeoffset(0)) AT TIME ZONE 'Pacific Standard Time'", "2026-07-01 12:00:00 +02:00|2026-07-01 05:00:00 -07:00"},
		{"AT TIME ZONE unknown", "SELECT CAST('2026-07-01 12:00' AS datetime2(0)) AT TIME ZONE 'Nowhere'", "error 9820"},
		{"SWITCHOFFSET", "SELECT SWITCHOFFSET(CAST('2026-07-01 12:00 +00:00' AS datetimeoffset(0)), '-07:00'), SWITCHOFFSET(CAST('2026-07-01 12:00 +00:00' AS datetimeoffset(0)), 120)", "2026-07-01 05:00:00 -07:00|2026-07-01 14:00:00 +02:00"},
		{"comparison of date and text", "SELECT CASE WHEN CAST('2026-01-01' AS date) = '20260101' THEN 1 ELSE 0 END", "1"},
		{"comparison of date and datetime", "SELECT CASE WHEN CAST('2026-01-01' AS date) < CAST('2026-01-01 00:01' AS datetime) THEN 1 ELSE 0 END", "1"},
		{"GETDATE types", "SELECT CAST(GETDATE() AS date), CAST(SYSUTCDATETIME() AS datetime2(0)), CURRENT_TIMESTAMP", "~date 2026-03-01 00:00:00 +00:00|datetime2(0,0) 2026-03-01 08:00:00 +00:00|datetime 2026-03-01 08:00:00 +00:00"},
	})
}
