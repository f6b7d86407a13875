package dsl_test
import ("testing";"fmt";"github.com/pipectl/pipectl/dsl")
func TestTry(t *testing.T){
 for _, p := range []string{"../examples/quickstart.hcl","../examples/fifty-tables.hcl"} {
  f, l := dsl.Load(p, dsl.Options{Offline:true})
  if f==nil { t.Fatal(l) }
  c, l := f.Evaluate(plugins())
  for _, d := range l { fmt.Printf("%s %s | %s | %v\n", d.Code, d.Summary, d.Detail, d.Subject) }
  if c!=nil { fmt.Println(len(c.Tables), len(c.Checks), c.Sources[0].Body.GoString()) }
 }
}
