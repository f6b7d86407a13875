package dsl

// The codes of this package's messages. They are stable, and docs/language.md
// says for each what to do; a test compares the two.
const (
	codeSyntax           = "syntax.invalid"
	codeFileUnreadable   = "file.unreadable"
	codeFileNone         = "file.none"
	codeBlockUnknown     = "block.unknown"
	codeBlockLabels      = "block.labels"
	codeBlockName        = "block.name"
	codeBlockDuplicate   = "block.duplicate"
	codeBlockMissing     = "block.missing"
	codeArgumentUnknown  = "argument.unknown"
	codeArgumentMissing  = "argument.missing"
	codeArgumentType     = "argument.type"
	codeArgumentValue    = "argument.value"
	codeArgumentOld      = "argument.deprecated"
	codeArgumentTwice    = "argument.duplicate"
	codeRowAttribute     = "row.unknown_attribute"
	codeRowHidden        = "row.used_whole"
	codeRefUnknown       = "reference.unknown"
	codeRefKind          = "reference.kind"
	codeRefDirection     = "reference.direction"
	codeRefInstance      = "reference.instance"
	codeRefQuoted        = "reference.quoted"
	codeRefAttribute     = "reference.attribute"
	codeRefEach          = "reference.each"
	codeRefCycle         = "reference.cycle"
	codeExprInvalid      = "expression.invalid"
	codeFuncUnknown      = "function.unknown"
	codeFuncFailed       = "function.failed"
	codeForEach          = "for_each.invalid"
	codeForEachSensitive = "for_each.sensitive"
	codeVarUndeclared    = "variable.undeclared"
	codeVarMissing       = "variable.missing"
	codeVarType          = "variable.type"
	codeVarInvalid       = "variable.invalid"
	codeVarDeclaration   = "variable.declaration"
	codeVarPlanned       = "variable.planned"
	codeValueSensitive   = "value.sensitive"
	codeValueLiteral     = "value.literal_secret"
	codeEnvUnset         = "env.unset"
	codePluginUnknown    = "plugin.unknown"
	codePluginType       = "plugin.type_unknown"
	codePluginAmbiguous  = "plugin.ambiguous"
	codePluginSchema     = "plugin.schema"
	codeVersion          = "version.mismatch"
	codeNotBuilt         = "language.not_built"
	codeTargetInvalid    = "target.invalid"
	codePathInvalid      = "path.invalid"
	codeTargetDuplicate  = "target.duplicate"
	codeTargetNested     = "target.nested"
	codeAppIDInvalid     = "app_id.invalid"
	codeAppIDDuplicate   = "app_id.duplicate"
	codeSinkDiffers      = "sink.differs"
	codeLockInvalid      = "lock.invalid"
)

// Codes lists every code that this package uses, in the order of the
// documentation.
func Codes() []string {
	return []string{
		codeSyntax, codeFileUnreadable, codeFileNone,
		codeBlockUnknown, codeBlockLabels, codeBlockName, codeBlockDuplicate, codeBlockMissing,
		codeArgumentUnknown, codeArgumentMissing, codeArgumentType, codeArgumentValue, codeArgumentOld, codeArgumentTwice, codeRowAttribute, codeRowHidden,
		codeRefUnknown, codeRefKind, codeRefDirection, codeRefInstance, codeRefQuoted, codeRefAttribute, codeRefEach, codeRefCycle,
		codeExprInvalid, codeFuncUnknown, codeFuncFailed, codeForEach, codeForEachSensitive,
		codeVarUndeclared, codeVarMissing, codeVarType, codeVarInvalid, codeVarDeclaration, codeVarPlanned,
		codeValueSensitive, codeValueLiteral, codeEnvUnset,
		codePluginUnknown, codePluginType, codePluginAmbiguous, codePluginSchema, codeVersion, codeNotBuilt,
		codeTargetInvalid, codePathInvalid, codeTargetDuplicate, codeTargetNested, codeAppIDInvalid, codeAppIDDuplicate, codeSinkDiffers, codeLockInvalid,
	}
}
