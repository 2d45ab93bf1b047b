import { ToolFailure } from '../tool-failure.ts';

/** A response, as far as it was read. */
export interface ResponsePrefix {
	status: number;
	/** The Content-Type header; null where there is none. */
	contentType: string | null;
	bytes: Uint8Array;
	/** Whether there was more. */
	isTruncated: boolean;
}

const TEXTUAL = [
	/^text\//,
	/^application\/(.*\+)?(json|xml|yaml)(-seq)?$/,
	/^application\/(javascript|ecmascript|ndjson|x-ndjson|jsonl|x-yaml|toml|x-www-form-urlencoded|graphql|sql)$/,
];

/** No text has it; most binary data has it near the beginning. */
const NUL_CHARACTER = '\0';

/**
 * The text of a response.
 * @throws ToolFailure `unusable_answer` where it is not text
 */
export function responseText({ status, contentType, bytes, isTruncated }: ResponsePrefix): string {
	const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
	const essence = type.trim();
	if (bytes.length === 0) return '';
	if (essence !== '' && !TEXTUAL.some((pattern) => pattern.test(essence))) throw binaryFailure(essence, status);
	// The last character may be incomplete.
	const text = decoderFor(parameters).decode(bytes, { stream: isTruncated });
	if (text.includes(NUL_CHARACTER)) throw binaryFailure(essence || 'something', status);
	return text;
}

function decoderFor(parameters: string[]): InstanceType<typeof TextDecoder> {
	const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)/.exec(parameter)?.[1]).find(Boolean);
	try {
		return new TextDecoder(charset);
	} catch {
		return new TextDecoder();
	}
}

function binaryFailure(type: string, status: number): ToolFailure {
	return new ToolFailure('unusable_answer', `The API answered with ${type}, which is not text.`, { status });
}
