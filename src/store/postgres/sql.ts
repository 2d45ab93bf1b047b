import type { ClientBase, Pool, QueryResult } from 'pg';

/** Values of the named parameters of a statement. */
export type Values = Readonly<Record<string, unknown>>;

/** Runs statements with named parameters (`@name`). Each text is prepared once a connection, so it holds no values. */
export interface Sql {
	all<R = unknown>(text: string, values?: Values): Promise<R[]>;
	/** The first row. */
	get<R = unknown>(text: string, values?: Values): Promise<R | undefined>;
	/** @returns how many rows were changed */
	run(text: string, values?: Values): Promise<number>;
}

interface Statement {
	name: string;
	text: string;
	/** In the order of their numbers. */
	parameters: string[];
}

const statements = new Map<string, Statement>();
const PARAMETER = /@([a-z_]+)/g;

function statementOf(text: string): Statement {
	let statement = statements.get(text);
	if (statement === undefined) {
		const parameters: string[] = [];
		const numbered = text.replace(PARAMETER, (_, name: string) => {
			if (!parameters.includes(name)) parameters.push(name);
			return `$${parameters.indexOf(name) + 1}`;
		});
		statement = { name: `s${statements.size}`, text: numbered, parameters };
		statements.set(text, statement);
	}
	return statement;
}

/** The statements of a connection, or of a pool of them. */
export function sqlOf(connection: ClientBase | Pool): Sql {
	const query = (text: string, values: Values): Promise<QueryResult> => {
		const { name, text: numbered, parameters } = statementOf(text);
		return connection.query({ name, text: numbered, values: parameters.map((parameter) => values[parameter] ?? null) });
	};
	return {
		all: async <R>(text: string, values: Values = {}) => (await query(text, values)).rows as R[],
		get: async <R>(text: string, values: Values = {}) => (await query(text, values)).rows[0] as R | undefined,
		run: async (text, values = {}) => (await query(text, values)).rowCount ?? 0,
	};
}
