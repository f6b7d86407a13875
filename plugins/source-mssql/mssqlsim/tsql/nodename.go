package tsql

import (
	"reflect"
	"regexp"
	"strings"
)

// nodeName names a part of the parser's tree for error messages by the words of T-SQL that it is written with.
func nodeName(x any) string {
	name := typeName(x)
	if words, ok := statementNames[name]; ok {
		return words
	}
	if words, ok := nodeNames[name]; ok {
		return words
	}
	return "what is written here"
}

// optionNode names an option by the word that it is written with, where the parser keeps it.
func optionNode(x any) string {
	if v := reflect.Indirect(reflect.ValueOf(x)); v.Kind() == reflect.Struct {
		if f := v.FieldByName("OptionKind"); f.IsValid() && f.Kind() == reflect.String && f.String() != "" {
			return optionWord(f.String())
		}
	}
	return nodeName(x)
}

// typeName is the parser's own name of a part of its tree, "" of none.
func typeName(x any) string {
	if x == nil {
		return ""
	}
	return strings.TrimPrefix(reflect.TypeOf(x).String(), "*ast.")
}

// nodeNames are the words of what statements are made of, by the parser's types (teesql v1.1.0).
var nodeNames = map[string]string{
	"": "what is written here",
	// expressions
	"AtTimeZoneCall": "AT TIME ZONE", "BinaryExpression": "an operator of two values", "BinaryLiteral": "a binary constant", "CastCall": "CAST", "CoalesceExpression": "COALESCE",
	"ColumnReferenceExpression": "a column", "ConvertCall": "CONVERT", "DefaultLiteral": "DEFAULT", "ExtractFromExpression": "EXTRACT", "FunctionCall": "a call of a function",
	"GlobalVariableExpression": "a function that begins with @@", "IIfCall": "IIF", "IdentifierLiteral": "a word", "IdentityFunctionCall": "IDENTITY()", "IntegerLiteral": "an integer constant",
	"LeftFunctionCall": "LEFT", "MaxLiteral": "MAX", "MoneyLiteral": "a money constant", "NextValueForExpression": "NEXT VALUE FOR", "NullIfExpression": "NULLIF", "NullLiteral": "NULL",
	"NumericLiteral": "a decimal constant", "OdbcConvertSpecification": "the type of {fn CONVERT}", "OdbcFunctionCall": "{fn ...}", "OdbcLiteral": "{d ...}, {t ...} and {ts ...}",
	"ParameterlessCall": "a function without parentheses", "ParenthesisExpression": "parentheses", "ParseCall": "PARSE", "PartitionFunctionCall": "$PARTITION", "RealLiteral": "a float constant",
	"RightFunctionCall": "RIGHT", "ScalarSubquery": "a subquery", "SearchedCaseExpression": "CASE", "SimpleCaseExpression": "CASE", "SourceDeclaration": "the source of an event",
	"StringLiteral": "a text constant", "TryCastCall": "TRY_CAST", "TryConvertCall": "TRY_CONVERT", "TryParseCall": "TRY_PARSE", "UnaryExpression": "a sign or ~",
	"UserDefinedTypePropertyAccess": "a property of a value", "VariableReference": "a variable",
	// predicates
	"BooleanBinaryExpression": "AND and OR", "BooleanComparisonExpression": "a comparison", "BooleanInExpression": "IN", "BooleanIsNullExpression": "IS NULL", "BooleanLikeExpression": "LIKE",
	"BooleanNotExpression": "NOT", "BooleanParenthesisExpression": "parentheses", "BooleanScalarPlaceholder": "a value in place of a condition", "BooleanTernaryExpression": "BETWEEN",
	"DistinctPredicate": "IS DISTINCT FROM", "EventDeclarationCompareFunctionParameter": "a comparison of an event", "ExistsPredicate": "EXISTS", "FullTextPredicate": "CONTAINS and FREETEXT",
	"GraphMatchCompositeExpression": "MATCH", "GraphMatchLastNodePredicate": "LAST_NODE of MATCH", "GraphMatchPredicate": "MATCH", "GraphMatchRecursivePredicate": "SHORTEST_PATH of MATCH",
	"SubqueryComparisonPredicate": "ANY, SOME and ALL", "TSEqualCall": "TSEQUAL", "UpdateCall": "UPDATE() of a trigger",
	// FROM
	"AdHocTableReference": "OPENDATASOURCE", "BuiltInFunctionTableReference": "::fn_name in FROM", "BulkOpenRowset": "OPENROWSET(BULK)", "ChangeTableChangesTableReference": "CHANGETABLE(CHANGES)",
	"ChangeTableVersionTableReference": "CHANGETABLE(VERSION)", "DataModificationTableReference": "a change in FROM", "FullTextTableReference": "CONTAINSTABLE and FREETEXTTABLE",
	"GlobalFunctionTableReference": "a function in FROM", "InlineDerivedTable": "VALUES in FROM", "InternalOpenRowset": "OPENROWSET(TABLE)", "JoinParenthesisTableReference": "a join in parentheses",
	"NamedTableReference": "a table", "OdbcQualifiedJoinTableReference": "{oj ...}", "OpenJsonTableReference": "OPENJSON", "OpenQueryTableReference": "OPENQUERY", "OpenRowsetCosmos": "OPENROWSET of Cosmos DB",
	"OpenRowsetTableReference": "OPENROWSET", "OpenXmlTableReference": "OPENXML", "PivotedTableReference": "PIVOT", "PredictTableReference": "PREDICT", "QualifiedJoin": "JOIN", "QueryDerivedTable": "a query in FROM",
	"SchemaObjectFunctionTableReference": "a function in FROM", "SemanticTableReference": "SEMANTICKEYPHRASETABLE and its kin", "UnpivotedTableReference": "UNPIVOT", "UnqualifiedJoin": "CROSS JOIN and APPLY",
	"VariableMethodCallTableReference": "a method of a variable in FROM", "VariableTableReference": "a table variable",
	// queries
	"BinaryQueryExpression": "UNION, EXCEPT and INTERSECT", "QueryParenthesisExpression": "a query in parentheses", "QuerySpecification": "SELECT",
	"CompositeGroupingSpecification": "a list in parentheses", "CubeGroupingSpecification": "CUBE", "ExpressionGroupingSpecification": "an expression", "GrandTotalGroupingSpecification": "()",
	"GroupingSetsGroupingSpecification": "GROUPING SETS", "RollupGroupingSpecification": "ROLLUP", "SelectScalarExpression": "an expression", "SelectSetVariable": "an assignment", "SelectStarExpression": "*",
	"LiteralOptimizerHint": "a hint with a value", "OptimizeForOptimizerHint": "OPTIMIZE FOR", "OptimizerHint": "a hint", "TableHintsOptimizerHint": "TABLE HINT", "UseHintList": "USE HINT",
	"ForceSeekTableHint": "FORCESEEK with an index", "IndexTableHint": "INDEX", "LiteralTableHint": "SPATIAL_WINDOW_MAX_CELLS", "TableHint": "a hint",
	"DeleteMergeAction": "DELETE", "InsertMergeAction": "INSERT", "UpdateMergeAction": "UPDATE", "ExecuteInsertSource": "EXECUTE", "SelectInsertSource": "SELECT", "ValuesInsertSource": "VALUES",
	"ExecutableProcedureReference": "a procedure", "ExecutableStringList": "a text", "SqlDataTypeReference": "a type", "UserDataTypeReference": "a type of a user", "XmlDataTypeReference": "xml",
	"GeneralSetCommand": "SET", "SetFipsFlaggerCommand": "SET FIPS_FLAGGER",
	// definitions
	"CheckConstraintDefinition": "CHECK", "DefaultConstraintDefinition": "DEFAULT", "ForeignKeyConstraintDefinition": "FOREIGN KEY", "NullableConstraintDefinition": "NULL and NOT NULL",
	"UniqueConstraintDefinition": "UNIQUE and PRIMARY KEY", "GraphConnectionConstraintDefinition": "CONNECTION",
	"CompressionDelayIndexOption": "COMPRESSION_DELAY", "DataCompressionOption": "DATA_COMPRESSION", "IgnoreDupKeyIndexOption": "IGNORE_DUP_KEY", "IndexExpressionOption": "FILLFACTOR and MAXDOP",
	"IndexStateOption": "ON or OFF", "MaxDurationOption": "MAX_DURATION", "OnlineIndexOption": "ONLINE", "OrderIndexOption": "ORDER", "WaitAtLowPriorityOption": "WAIT_AT_LOW_PRIORITY", "XmlCompressionOption": "XML_COMPRESSION",
	"DurabilityTableOption": "DURABILITY", "FileStreamOnTableOption": "FILESTREAM_ON", "FileTableCollateFileNameTableOption": "FILETABLE_COLLATE_FILENAME", "FileTableConstraintNameTableOption": "FILETABLE_PRIMARY_KEY_CONSTRAINT_NAME and its kin",
	"FileTableDirectoryTableOption": "FILETABLE_DIRECTORY", "LedgerTableOption": "LEDGER", "LockEscalationTableOption": "LOCK_ESCALATION", "MemoryOptimizedTableOption": "MEMORY_OPTIMIZED",
	"RemoteDataArchiveAlterTableOption": "REMOTE_DATA_ARCHIVE", "RemoteDataArchiveTableOption": "REMOTE_DATA_ARCHIVE", "SystemVersioningTableOption": "SYSTEM_VERSIONING",
	"TableDataCompressionOption": "DATA_COMPRESSION", "TableDistributionOption": "DISTRIBUTION", "TableIndexOption": "HEAP and CLUSTERED INDEX of Azure Synapse", "TablePartitionOption": "PARTITION",
	"TableXmlCompressionOption": "XML_COMPRESSION",
	// databases
	"AcceleratedDatabaseRecoveryDatabaseOption": "ACCELERATED_DATABASE_RECOVERY", "AutoCreateStatisticsDatabaseOption": "AUTO_CREATE_STATISTICS", "AutomaticTuningDatabaseOption": "AUTOMATIC_TUNING",
	"ChangeTrackingDatabaseOption": "CHANGE_TRACKING", "ContainmentDatabaseOption": "CONTAINMENT", "CursorDefaultDatabaseOption": "CURSOR_DEFAULT", "DelayedDurabilityDatabaseOption": "DELAYED_DURABILITY",
	"ElasticPoolSpecification": "ELASTIC_POOL", "FileStreamDatabaseOption": "FILESTREAM", "GenericDatabaseOption": "this option", "HadrAvailabilityGroupDatabaseOption": "HADR AVAILABILITY GROUP",
	"HadrDatabaseOption": "HADR", "IdentifierDatabaseOption": "this option", "LiteralDatabaseOption": "this option", "MaxSizeDatabaseOption": "MAXSIZE", "OnOffDatabaseOption": "this option",
	"PageVerifyDatabaseOption": "PAGE_VERIFY", "ParameterizationDatabaseOption": "PARAMETERIZATION", "PartnerDatabaseOption": "PARTNER", "QueryStoreDatabaseOption": "QUERY_STORE", "RecoveryDatabaseOption": "RECOVERY",
	"RemoteDataArchiveDatabaseOption": "REMOTE_DATA_ARCHIVE", "SimpleDatabaseOption": "this option", "TargetRecoveryTimeDatabaseOption": "TARGET_RECOVERY_TIME", "WitnessDatabaseOption": "WITNESS",
	"MoveToDropIndexOption": "MOVE TO", "FileStreamOnDropIndexOption": "FILESTREAM_ON",
	"FileStreamRestoreOption": "FILESTREAM", "GeneralSetCommandRestoreOption": "this option", "MoveRestoreOption": "MOVE", "ScalarExpressionRestoreOption": "this option", "SimpleRestoreOption": "this option",
	"StopRestoreOption": "STOPATMARK and STOPBEFOREMARK", "BackupEncryptionOption": "ENCRYPTION", "BackupOption": "this option",
	// principals
	"AddMemberAlterRoleAction": "ADD MEMBER", "DropMemberAlterRoleAction": "DROP MEMBER", "RenameAlterRoleAction": "WITH NAME",
	"DefaultSchemaPrincipalOption": "DEFAULT_SCHEMA", "IdentifierPrincipalOption": "this option", "LiteralPrincipalOption": "this option", "OnOffPrincipalOption": "this option",
	"PasswordAlterPrincipalOption": "PASSWORD", "PrincipalOptionSimple": "this option",
	"AsymmetricKeyCreateLoginSource": "FROM ASYMMETRIC KEY", "CertificateCreateLoginSource": "FROM CERTIFICATE", "ExternalCreateLoginSource": "FROM EXTERNAL PROVIDER", "PasswordCreateLoginSource": "WITH PASSWORD",
	"WindowsCreateLoginSource": "FROM WINDOWS",
}

// kindNames are the words of kinds that the parser's own spelling does not give.
var kindNames = map[string]string{
	"SortInTempDB": "SORT_IN_TEMPDB", "NonClustered": "NONCLUSTERED", "ClusteredColumnStore": "CLUSTERED COLUMNSTORE", "NonClusteredColumnStore": "NONCLUSTERED COLUMNSTORE", "ClusteredHash": "CLUSTERED HASH",
	"NonClusteredHash": "NONCLUSTERED HASH", "FillFactor": "FILLFACTOR", "StatisticsNoRecompute": "STATISTICS_NORECOMPUTE", "IdentityCol": "IDENTITYCOL", "RowGuidCol": "ROWGUIDCOL", "Wildcard": "*",
	"PseudoColumnAction": "$action", "PseudoColumnCuid": "$CUID", "PseudoColumnGraphEdgeId": "$edge_id", "PseudoColumnGraphFromId": "$from_id", "PseudoColumnGraphNodeId": "$node_id",
	"PseudoColumnGraphToId": "$to_id", "PseudoColumnIdentity": "$IDENTITY", "PseudoColumnRowGuid": "$ROWGUID", "AddRowGuidCol": "ADD ROWGUIDCOL", "DropRowGuidCol": "DROP ROWGUIDCOL",
	"FullTextCatalog": "FULLTEXT CATALOG", "FullTextStopList": "FULLTEXT STOPLIST", "MaxDop": "MAXDOP", "UsePlan": "USE PLAN", "CheckConstraints": "CHECK_CONSTRAINTS",
	"NoExpand": "NOEXPAND", "Noexpand": "NOEXPAND", "KeepIdentity": "KEEPIDENTITY", "KeepDefaults": "KEEPDEFAULTS", "IgnoreConstraints": "IGNORE_CONSTRAINTS", "IgnoreTriggers": "IGNORE_TRIGGERS",
	"ReadPast": "READPAST", "SpatialWindowMaxCells": "SPATIAL_WINDOW_MAX_CELLS", "ScrollLocks": "SCROLL_LOCKS", "TypeWarning": "TYPE_WARNING", "UpdateSelectiveXmlPaths": "FOR", "FullTextIndex": "FULLTEXT INDEX",
	"ShowPlanAll": "SHOWPLAN_ALL", "MaxGrantPercent": "MAX_GRANT_PERCENT", "MinGrantPercent": "MIN_GRANT_PERCENT", "NoPerformanceSpool": "NO_PERFORMANCE_SPOOL",
	"IgnoreNonClusteredColumnStoreIndex": "IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX", "ForceScan": "FORCESCAN", "SystemTimePeriod": "PERIOD FOR SYSTEM_TIME",
	"FileStream": "FILESTREAM", "DBChaining": "DB_CHAINING", "DbChaining": "DB_CHAINING", "MaxSize": "MAXSIZE", "NumericRoundAbort": "NUMERIC_ROUNDABORT", "VarDecimalStorageFormat": "VARDECIMAL_STORAGE_FORMAT",
	"AlterColumnPlan": "ALTERCOLUMN PLAN", "CheckConstraintsPlan": "CHECKCONSTRAINTS PLAN", "RetainDays": "RETAINDAYS", "ConcatEquals": "||=", "Concat": "||", "LeftShift": "<<", "RightShift": ">>",
}

var kindWord = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// kindWords writes a kind of the parser, such as AsymmetricKey, as the words of T-SQL: ASYMMETRIC KEY.
func kindWords(kind string) string { return spelled(kind, " ") }

// optionWord is kindWords of an option, whose words are one: IGNORE_DUP_KEY.
func optionWord(kind string) string { return spelled(kind, "_") }

func spelled(kind, between string) string {
	if words, ok := kindNames[kind]; ok {
		return words
	}
	return strings.ToUpper(strings.Join(kindWord.FindAllString(kind, -1), between))
}
