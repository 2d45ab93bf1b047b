import { ToolFailure } from './tool-failure.ts';

/** A name in braces. */
export const PLACEHOLDER = /\{([^{}]*)\}/g;

const PLACEHOLDER_ONLY = /^\{([^{}]*)\}$/;

/** Encodes a value for its position in the template. */
type Encode = (text: string, name: string) => string;

/** The first placeholder in a text that names a parameter; undefined where there is none. */
export function placeholderIn(text: string, parameters: object): string | undefined {
	const { properties = {} } = parameters as { properties?: object };
	return [...text.matchAll(PLACEHOLDER)].find(([, name = '']) => Object.hasOwn(properties, name))?.[0];
}

/** Fills the arguments of a call into templates. Braces around anything but a parameter are plain text. */
export class TemplateFiller {
	readonly #properties: object;
	readonly #args: Readonly<Record<string, unknown>>;

	/** @param parameters the JSON Schema of the arguments */
	constructor(parameters: object, args: Readonly<Record<string, unknown>>) {
		this.#properties = (parameters as { properties?: object }).properties ?? {};
		this.#args = args;
	}

	/** If a template is one placeholder and nothing else: its argument, which may be missing or null. Else undefined. */
	soleArgument(template: string): { value: unknown } | undefined {
		const name = PLACEHOLDER_ONLY.exec(template)?.[1];
		return name !== undefined && this.#isParameter(name) ? { value: this.#argument(name) } : undefined;
	}

	/** The template with its placeholders filled in; undefined where an argument is missing or null. */
	fillText(template: string, encode: Encode = identity): string | undefined {
		let isComplete = true;
		const filled = template.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
			if (!this.#isParameter(name)) return placeholder;
			const value = this.#argument(name);
			if (value === undefined || value === null) {
				isComplete = false;
				return '';
			}
			return encode(textOf(value), name);
		});
		return isComplete ? filled : undefined;
	}

	#isParameter(name: string): boolean {
		return Object.hasOwn(this.#properties, name);
	}

	#argument(name: string): unknown {
		return Object.hasOwn(this.#args, name) ? this.#args[name] : undefined;
	}
}

/** The failure of an argument that is valid by the schema, but not at its position in the template. */
export function invalidArgument(name: string, why: string): ToolFailure {
	return new ToolFailure('invalid_arguments', `The argument ${name} ${why}.`);
}

/** A value as text. Lists of plain values are joined with commas, as in OpenAPI's style `simple`. */
function textOf(value: unknown): string {
	if (typeof value === 'string') return value;
	const isPlainList = Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null);
	return isPlainList ? value.join(',') : JSON.stringify(value);
}

function identity(text: string): string {
	return text;
}
