import { ToolFailure } from './tool-failure.ts';

/** A name in braces. */
export const PLACEHOLDER = /\{([^{}]*)\}/g;

const PLACEHOLDER_ONLY = /^\{([^{}]*)\}$/;

/** Writes a value for the place where it goes. */
type Encode = (text: string, name: string) => string;

/** The first placeholder in a text that is one of a parameter; undefined where there is none. */
export function placeholderIn(text: string, parameters: object): string | undefined {
	const { properties = {} } = parameters as { properties?: object };
	return [...text.matchAll(PLACEHOLDER)].find(([, name = '']) => Object.hasOwn(properties, name))?.[0];
}

/** The arguments of a call, as they are filled into templates. Braces around anything but a parameter are just text. */
export class TemplateFiller {
	readonly #properties: object;
	readonly #args: Readonly<Record<string, unknown>>;

	/** @param parameters the JSON Schema that the arguments fit */
	constructor(parameters: object, args: Readonly<Record<string, unknown>>) {
		this.#properties = (parameters as { properties?: object }).properties ?? {};
		this.#args = args;
	}

	/** The argument, not given or null as it may be, that a template is nothing but the placeholder of; else undefined. */
	soleArgument(template: string): { value: unknown } | undefined {
		const name = PLACEHOLDER_ONLY.exec(template)?.[1];
		return name !== undefined && this.#isParameter(name) ? { value: this.#argument(name) } : undefined;
	}

	/** The template with its placeholders filled in; undefined where an argument is not given, or null. */
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

/** The failure of an argument that fits the schema, and not the place where it goes. */
export function invalidArgument(name: string, why: string): ToolFailure {
	return new ToolFailure('invalid_arguments', `The argument ${name} ${why}.`);
}

/** A value within a text. Lists of plain values are written with commas, as OpenAPI's style `simple` has it. */
function textOf(value: unknown): string {
	if (typeof value === 'string') return value;
	const isPlainList = Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null);
	return isPlainList ? value.join(',') : JSON.stringify(value);
}

function identity(text: string): string {
	return text;
}
