package collation

import "strings"

// plainLanguages are designators whose languages have letters where the table for all languages has them, as far as the
// Latin, Greek and Cyrillic alphabets go (Microsoft: Windows Collation Name (Transact-SQL), Collation designators).
var plainLanguages = []string{"Latin1_General", "Greek", "Cyrillic_General", "Arabic", "Hebrew", "Thai", "Chinese", "Japanese", "Korean", "Indic_General"}

// together are letters of the basic alphabet that have another place in a language, or are one letter together (Microsoft:
// [MS-UCODEREF] Windows Sorting Weight Table, SORTTABLES, EXCEPTION and COMPRESSION). Some languages have more of them in one version
// than in another: that of all is here.
var together = map[string]string{
	"Albanian": "dh gj ll nj rr sh th xh zh", "Azeri_Latin": "q x", "Bosnian_Latin": "dz lj nj", "Breton": "ch", "Croatian": "dz lj nj", "Czech": "ch", "Danish_Greenlandic": "aa", "Danish_Norwegian": "aa",
	"Estonian": "v w z", "Finnish_Swedish": "v w", "Frisian": "y", "Hungarian": "cs dz gy ly ny sz ty zs", "Latvian": "y", "Lithuanian": "y", "Maltese": "gh ie", "Maori": "ng wh", "Mapudungan": "ch ll ng tr",
	"Norwegian": "aa", "Serbian_Latin": "dz lj nj", "Slovak": "ch dz", "Traditional_Spanish": "ch ll", "Turkmen": "w y", "Upper_Sorbian": "ch", "Uzbek_Latin": "c ch ng o' g' sh", "Vietnamese": "ch gi kh ng nh ph qu th tr",
	"Welsh": "ch dd ff ng ll ph rh th",
}

// Plain tells whether letters of the language are in their places of the table for all languages.
func (c *Collation) Plain() bool {
	name := strings.ReplaceAll(c.base, "-", "_")
	for _, p := range plainLanguages {
		if strings.HasPrefix(name, p) {
			return !strings.Contains(c.Name, "EBCDIC") && !strings.Contains(c.Name, "Diction")
		}
	}
	return false
}

// Together are the letters of the basic alphabet whose place in the language is another than in the table for all languages, in lower
// case.
func (c *Collation) Together() []string {
	if strings.Contains(c.Name, "EBCDIC") || strings.Contains(c.Name, "Diction") {
		return strings.Split("abcdefghijklmnopqrstuvwxyz0123456789", "")
	}
	name := strings.ReplaceAll(c.base, "-", "_")
	for language, letters := range together {
		if strings.HasPrefix(name, language) {
			return strings.Fields(letters)
		}
	}
	return nil
}
