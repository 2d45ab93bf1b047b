// The import table of docs/architecture.md, as rules that `npm run check` enforces.
// A module is a folder of src/. Its entry point is index.ts. Imports go up this table only.

/** The modules that each module may import, besides itself. Browser modules import types only and are listed below. */
const mayImport = {
	base: [],
	config: ['base'],
	contract: ['base'],
	text: ['base'],
	redaction: [],
	parsing: ['base', 'contract', 'text'],
	retrieval: ['text'],
	actors: ['base'],
	// Retrieval is pure: search workers rank in memory what the store reads.
	store: ['base', 'contract', 'retrieval'],
	cluster: ['base', 'store', 'net', 'http'],
	backup: ['base', 'store'],
	pool: ['base', 'contract'],
	net: ['base'],
	thesauri: ['base', 'text'],
	extractive: ['base', 'text', 'retrieval'],
	models: ['base', 'config', 'contract', 'net', 'text', 'extractive'],
	outbox: ['base', 'contract', 'store'],
	knowledge: ['base', 'contract', 'parsing', 'retrieval', 'store', 'pool', 'net', 'models', 'thesauri'],
	tools: ['base', 'contract', 'store', 'net'],
	costs: ['base', 'contract', 'store'],
	conversations: [
		'base',
		'contract',
		'redaction',
		'actors',
		'store',
		'extractive',
		'models',
		'knowledge',
		'tools',
		'costs',
		'outbox',
	],
	inbox: ['base', 'contract', 'store', 'conversations'],
	deployments: ['base', 'contract', 'actors', 'store'],
	statistics: ['base', 'contract', 'text', 'store'],
	webhooks: ['base', 'contract', 'store', 'outbox', 'net'],
	privacy: ['base', 'conversations', 'deployments', 'store'],
	oidc: ['base', 'contract', 'net'],
	access: ['base', 'contract', 'store', 'net', 'oidc'],
	http: ['base', 'contract'],
	// Runs before the rest is unpacked.
	binary: [],
	// Shared by the widget and the dashboard.
	markdown: [],
};
// All modules meet in the API. It is given its settings and does not read them.
mayImport.api = Object.keys(mayImport).filter((name) => !['config', 'backup', 'binary', 'markdown'].includes(name));
mayImport.commands = [
	'base',
	'config',
	'contract',
	'store',
	'backup',
	'pool',
	'net',
	'models',
	'access',
	'tools',
	'webhooks',
	'thesauri',
];
mayImport.metrics = ['base', 'contract', 'store', 'models', 'webhooks', 'http'];
mayImport.tracing = ['base', 'config', 'net', 'http'];

/**
 * Algorithms without durable state: they get values and return values, so they run in any thread. Listed beside the table,
 * which an edit could widen by mistake.
 */
const pureModules = ['text', 'redaction', 'parsing', 'retrieval', 'extractive'];

const browserModules = ['widget', 'api-docs', 'dashboard'];
const modules = [...Object.keys(mayImport), ...browserModules];
const oneOf = (names) => `(${names.join('|')})`;
const library = (name) => `(^|/)node_modules/${name.replaceAll('.', '\\.')}/|^${name.replaceAll('.', '\\.')}$`;

const table = Object.entries(mayImport).map(([name, others]) => ({
	name: `${name}-imports-upwards`,
	comment: `src/${name} may import ${others.join(', ') || 'no other module'}.`,
	severity: 'error',
	from: { path: `^src/${name}/` },
	to: { path: '^(src|workers|bench|test)/', pathNot: `^src/${oneOf([name, ...others])}/` },
}));

module.exports = {
	forbidden: [
		...table,
		{
			name: 'models-import-types-of-the-settings',
			comment: 'Models are given their settings and do not read them.',
			severity: 'error',
			from: { path: '^src/models/' },
			to: { path: '^src/config/', dependencyTypesNot: ['type-only'] },
		},
		{
			name: 'no-unlisted-module',
			comment: 'Every folder of src/ has a line in the import table above.',
			severity: 'error',
			from: { path: '^src/[^/]+/', pathNot: `^src/${oneOf(modules)}/` },
			to: {},
		},
		{
			name: 'pure-engine',
			comment: 'Text, parsing, retrieval and extractive use no database, no thread, no network and no model.',
			severity: 'error',
			from: { path: `^src/${oneOf(pureModules)}/` },
			to: { path: '^src/(store|pool|net|models)/' },
		},
		{
			name: 'pure-engine-without-input-and-output',
			comment: 'They read no file and open no connection; the caller gives them bytes.',
			severity: 'error',
			from: { path: `^src/${oneOf(pureModules)}/` },
			to: {
				path: '^(node:)?(fs|fs/promises|net|worker_threads|process|os)$',
				dependencyTypes: ['core'],
			},
		},
		{
			name: 'entry-points-only',
			comment: 'Other modules import only the index.ts of a module.',
			severity: 'error',
			from: { path: '^src/([^/]+)(/|$)' },
			to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$'] },
		},
		{
			name: 'entry-points-only-from-workers',
			comment:
				'Workers import entry points of modules. Retrieval, store and tools have further ones for their workers, which load only what they need.',
			severity: 'error',
			from: { path: '^workers/' },
			to: {
				path: '^src/',
				pathNot: [
					'^src/[^/]+/index\\.ts$',
					'^src/(store/sqlite|store/search|tools/parameters|retrieval/training)/index\\.ts$',
				],
			},
		},
		{
			name: 'training-in-its-worker-only',
			comment: 'Only the worker that trains loads the linear algebra, which takes time and memory.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^(src/retrieval/training/|workers/embed\\.ts$)' },
			to: { path: '^src/retrieval/training/' },
		},
		{
			name: 'entry-points-only-from-benches',
			comment: 'Benches import the index.ts of a module, or of a folder inside it.',
			severity: 'error',
			from: { path: '^bench/' },
			to: { path: '^src/', pathNot: '/index\\.ts$' },
		},
		{
			name: 'main-is-thin',
			comment: 'main.ts reads arguments and handles signals: app, commands, config and base only.',
			severity: 'error',
			from: { path: '^src/main\\.ts$' },
			to: { path: '^src/', pathNot: '^src/(app\\.ts$|commands/|config/|base/)' },
		},
		{
			name: 'nothing-imports-the-wiring',
			comment: 'app.ts constructs the server. Only main.ts, tests and benches start it.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/main\\.ts$' },
			to: { path: '^src/(app|main)\\.ts$' },
		},
		{
			name: 'browser-code-imports-types-only',
			comment: 'Browser code shares the types of the contract with the server, and nothing else.',
			severity: 'error',
			from: { path: `^src/${oneOf(browserModules)}/` },
			to: {
				path: '^src/',
				pathNot: `^src/${oneOf([...browserModules, 'markdown'])}/`,
				dependencyTypesNot: ['type-only'],
			},
		},
		{
			name: 'browser-code-imports-the-contract-only',
			comment: 'Of the modules of the server, browser code imports the contract only.',
			severity: 'error',
			from: { path: `^src/${oneOf(browserModules)}/` },
			to: { path: '^src/', pathNot: ['^src/$1/', '^src/contract/', '^src/markdown/'] },
		},
		{
			name: 'product-does-not-import-tests',
			comment: 'The server imports neither tests nor benches.',
			severity: 'error',
			from: { path: '^(src|workers)/' },
			to: { path: '^(test|bench)/' },
		},
		{
			name: 'uws-in-http-only',
			comment: 'Only src/http touches uWebSockets.js.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/http/' },
			to: { path: library('uWebSockets.js') },
		},
		{
			name: 'undici-in-net-only',
			comment: 'Only src/net opens connections to other servers.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/net/' },
			to: { path: library('undici') },
		},
		{
			name: 'openid-client-in-oidc-only',
			comment: 'The library is given the fetch of src/net. Otherwise it would connect by itself.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/oidc/' },
			to: { path: library('openid-client') },
		},
		{
			name: 'sql-in-the-store-only',
			comment:
				'All SQL of the embedded store is in src/store/sqlite, so that the store can be replaced. An import reads all of its tables.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/store/(sqlite|import)/' },
			to: { path: `${library('better-sqlite3')}|${library('sqlite-vec')}` },
		},
		{
			name: 'postgresql-in-the-store-only',
			comment: 'Only src/store/postgres connects to PostgreSQL, and an import into it.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/store/(postgres|import)/' },
			to: { path: library('pg') },
		},
		{
			name: 'no-sockets-beside-net-and-http',
			comment: 'No other module opens connections. (.biome.json lists what may be imported from node:net.)',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/(net|http)/' },
			to: { path: '^(node:)?(http|https|http2|tls|dgram|dns|dns/promises)$', dependencyTypes: ['core'] },
		},
		{
			name: 'no-other-programs',
			comment:
				'The server starts no other program, which could open connections, and no debugger. It starts itself once more to parse documents, and to make a backup.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/(pool/parse-process|backup/backup-process)\\.ts$' },
			to: { path: '^(node:)?(child_process|cluster|inspector|inspector/promises|repl)$', dependencyTypes: ['core'] },
		},
		{
			name: 'no-cycles',
			comment: 'Imports have no cycles, type-only imports included.',
			severity: 'error',
			from: {},
			to: { circular: true },
		},
		{
			name: 'no-unknown-modules',
			comment: 'Every import leads to a file or to a package of package.json.',
			severity: 'error',
			from: {},
			to: { couldNotResolve: true },
		},
		{
			name: 'no-unlisted-packages',
			comment: 'Every imported package is listed in package.json.',
			severity: 'error',
			from: {},
			to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
		},
		{
			name: 'no-development-packages-in-the-product',
			comment: 'The server runs without development dependencies.',
			severity: 'error',
			from: { path: '^(src|workers)/' },
			to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
		enhancedResolveOptions: {
			exportsFields: ['exports'],
			conditionNames: ['import', 'node', 'default'],
			extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts', '.d.mts'],
			mainFields: ['module', 'main', 'types'],
		},
	},
};
