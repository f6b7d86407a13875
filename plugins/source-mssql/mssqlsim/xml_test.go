package mssqlsim

import "testing"

// Microsoft: Create instances of XML data; value() method (xml Data Type). What is not kept as it is written, and methods, are refused.
func TestXMLIsKeptAsItIsWrittenOrRefused(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	const lossy = "refused: mssqlsim does not understand xml that is not kept as it is written (white space between elements, <a></a>, declarations, comments, references but &lt; &gt; &amp;)"
	answers(t, conn, []documented{
		{"elements and attributes", `SELECT CAST(N'<r><a b="1" c="x &amp; y">é &lt; ü</a><d/></r>' AS xml)`, `<r><a b="1" c="x &amp; y">é &lt; ü</a><d/></r>`},
		{"prefixes", `SELECT CAST('<p:r xmlns:p="urn:x"><p:a/></p:r>' AS xml)`, `<p:r xmlns:p="urn:x"><p:a/></p:r>`},
		{"several elements, text, nothing", "SELECT CAST('<a/><b/>' AS xml), CAST('x' AS xml), CAST('' AS xml), CAST(NULL AS xml)", "<a/><b/>|x||NULL"},
		{"white space within text", "SELECT CAST('<a> x y </a>' AS xml)", "<a> x y </a>"},
		{"white space between elements", "SELECT CAST('<a> <b/> </a>' AS xml)", lossy},
		{"empty element in two tags", "SELECT CAST('<a></a>' AS xml)", lossy},
		{"declaration", `SELECT CAST('<?xml version="1.0"?><a/>' AS xml)`, lossy},
		{"apostrophes", "SELECT CAST('<a b=''1''/>' AS xml)", lossy},
		{"element without its end", "SELECT CAST('<a>' AS xml)", "refused: mssqlsim does not understand text that is no well-formed xml: XML syntax error on line 1: unexpected EOF"},
		{"ends crossed", "SELECT CAST('<a><b></a></b>' AS xml)", "refused: mssqlsim does not understand text that is no well-formed xml: XML syntax error on line 1: element <b> closed by </a>"},
		{"method", "SELECT CAST('<a>1</a>' AS xml).value('(/a)[1]', 'int')", "refused: mssqlsim does not understand value of xml"},
	})
}
