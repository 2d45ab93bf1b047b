// Who may know whom: the import table of the architecture, as rules that `npm run check` enforces.
// A room is a folder of src/. Its one face is index.ts; imports go up this table only.

/** The rooms that each room may import, besides itself. Browser rooms are further below: they take types only. */
const mayImport = {
	base: [],
	config: ['base'],
	contract: ['base'],
	text: ['base'],
	parsing: ['base', 'contract', 'text'],
	retrieval: ['text'],
	actors: ['base'],
	store: ['base', 'contract'],
	pool: ['base', 'contract'],
	net: ['base'],
	extractive: ['base', 'text'],
	models: ['base', 'contract', 'net', 'text', 'extractive'],
	outbox: ['base', 'contract', 'store'],
	knowledge: ['base', 'contract', 'parsing', 'retrieval', 'store', 'pool', 'net', 'models'],
	tools: ['base', 'contract', 'store', 'net'],
	conversations: ['base', 'contract', 'actors', 'store', 'models', 'knowledge', 'tools', 'outbox'],
	deployments: ['base', 'contract', 'actors', 'store'],
	webhooks: ['base', 'contract', 'store', 'outbox', 'net'],
	access: ['base', 'contract', 'store', 'net'],
	http: ['base', 'contract'],
	// Runs before the rest is there.
	binary: [],
};
// The API is where all rooms meet; it is told its settings instead of reading them.
mayImport.api = Object.keys(mayImport).filter((room) => room !== 'config' && room !== 'binary');
mayImport.commands = ['base', 'config', 'contract', 'store', 'pool', 'net', 'models', 'access', 'tools', 'webhooks'];

/**
 * Algorithms without durable state: they get values and return values, so they run in any thread. Listed beside the table,
 * which an edit could widen by mistake.
 */
const pureModules = ['text', 'parsing', 'retrieval'];

const browserRooms = ['widget', 'api-docs', 'dashboard'];
const rooms = [...Object.keys(mayImport), ...browserRooms];
const oneOf = (names) => `(${names.join('|')})`;
const library = (name) => `(^|/)node_modules/${name.replaceAll('.', '\\.')}/|^${name.replaceAll('.', '\\.')}$`;

const table = Object.entries(mayImport).map(([room, others]) => ({
	name: `${room}-imports-upwards`,
	comment: `src/${room} may import ${others.join(', ') || 'no other room'}.`,
	severity: 'error',
	from: { path: `^src/${room}/` },
	to: { path: '^(src|workers|bench|test)/', pathNot: `^src/${oneOf([room, ...others])}/` },
}));

module.exports = {
	forbidden: [
		...table,
		{
			name: 'no-unlisted-room',
			comment: 'Every folder of src/ has its line in the import table above.',
			severity: 'error',
			from: { path: '^src/[^/]+/', pathNot: `^src/${oneOf(rooms)}/` },
			to: {},
		},
		{
			name: 'pure-engine',
			comment: 'Parsing, retrieval and text processing know no database, no thread, no network and no model.',
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
			name: 'faces-only',
			comment: 'From outside a room only its index.ts is imported.',
			severity: 'error',
			from: { path: '^src/([^/]+)(/|$)' },
			to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$'] },
		},
		{
			name: 'entry-points-only-from-workers',
			comment:
				'Workers import entry points of modules. Store and tools have further ones for their workers, which load only what they need.',
			severity: 'error',
			from: { path: '^workers/' },
			to: {
				path: '^src/',
				pathNot: ['^src/[^/]+/index\\.ts$', '^src/(store/sqlite|store/sqlite/search|tools/parameters)/index\\.ts$'],
			},
		},
		{
			name: 'faces-only-from-benches',
			comment: 'Benches import the face of a room, or of a folder inside it.',
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
			comment: 'app.ts wires; only main.ts, tests and benches start it.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/main\\.ts$' },
			to: { path: '^src/(app|main)\\.ts$' },
		},
		{
			name: 'browser-code-imports-types-only',
			comment: 'The widget and the dashboard share the contract as types and nothing else with the server.',
			severity: 'error',
			from: { path: `^src/${oneOf(browserRooms)}/` },
			to: {
				path: '^src/',
				pathNot: `^src/${oneOf(browserRooms)}/`,
				dependencyTypesNot: ['type-only'],
			},
		},
		{
			name: 'browser-code-imports-the-contract-only',
			comment: 'Of the rooms of the server, browser code knows the contract.',
			severity: 'error',
			from: { path: `^src/(${browserRooms.join('|')})/` },
			to: { path: '^src/', pathNot: ['^src/$1/', '^src/contract/'] },
		},
		{
			name: 'product-does-not-import-tests',
			comment: 'The server knows neither its tests nor its benches.',
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
			comment: 'src/net is the one way out.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/net/' },
			to: { path: library('undici') },
		},
		{
			name: 'sql-in-the-store-only',
			comment: 'SQL lives in src/store/sqlite, so that another store can take its place.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/store/sqlite/' },
			to: { path: `${library('better-sqlite3')}|${library('sqlite-vec')}` },
		},
		{
			name: 'no-sockets-beside-net-and-http',
			comment: 'No room opens connections by itself. (What may be taken from node:net is told to the linter.)',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/(net|http)/' },
			to: { path: '^(node:)?(http|https|http2|tls|dgram|dns|dns/promises)$', dependencyTypes: ['core'] },
		},
		{
			name: 'no-other-programs',
			comment:
				'The server starts no other program, which would have ways out of its own, and opens no door to itself. It starts itself once more to parse documents.',
			severity: 'error',
			from: { path: '^(src|workers)/', pathNot: '^src/pool/parse-process\\.ts$' },
			to: { path: '^(node:)?(child_process|cluster|inspector|inspector/promises|repl)$', dependencyTypes: ['core'] },
		},
		{
			name: 'no-cycles',
			comment: 'Arrows go one way, type-only imports included.',
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
			comment: 'What is imported is named in package.json, not there by chance.',
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
			conditionNames: ['import', 'node', 'default', 'types'],
			extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts', '.d.mts'],
			mainFields: ['module', 'main', 'types'],
		},
	},
};
