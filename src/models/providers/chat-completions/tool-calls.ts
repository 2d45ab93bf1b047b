import { randomBytes } from 'node:crypto';
import type { AnswerEvent, ReceivedToolCall } from '../answer-event.ts';
import { isRecord } from '../json.ts';
import { protocolError } from '../reported-error.ts';
import { JsonNesting } from './json-nesting.ts';

/** A piece of a tool call. Services may omit any member; an absent or blank member is undefined. */
export interface ToolCallDelta {
	index: number | undefined;
	id: string | undefined;
	name: string | undefined;
	arguments: string;
	signature: string | undefined;
}

/** @throws ProviderError for a value that is not a piece of a call */
export function toolCallDelta(value: unknown): ToolCallDelta {
	if (!isRecord(value) || !isRecord(value.function)) throw protocolError('A tool call has no function.');
	const { index, id, extra_content } = value;
	const { name, arguments: given } = value.function;
	if (!isOptional(index, 'number') || !isOptional(id, 'string') || !isOptional(name, 'string')) {
		throw protocolError('A member of a tool call has a wrong type.');
	}
	const google = isRecord(extra_content) ? extra_content.google : undefined;
	const signature = isRecord(google) ? google.thought_signature : undefined;
	return {
		index: typeof index === 'number' ? index : undefined,
		id: notBlank(id),
		name: notBlank(name),
		// Some services send the arguments as an object and not as its text.
		arguments: typeof given === 'string' ? given : isRecord(given) ? JSON.stringify(given) : '',
		signature: notBlank(signature),
	};
}

/** A call that is not complete yet. */
interface Draft {
	id: string | undefined;
	index: number | undefined;
	name: string | undefined;
	arguments: string;
	signature: string | undefined;
	readonly nesting: JsonNesting;
}

/** Assembles the calls of one answer from their pieces. Its caller bounds the number of pieces. */
export class ToolCallAssembler {
	readonly #drafts: Draft[] = [];

	/** @throws ProviderError for a piece that belongs to no call and begins none */
	add(delta: ToolCallDelta): AnswerEvent[] {
		const events: AnswerEvent[] = [];
		let draft = this.#find(delta);
		if (draft === undefined) {
			if (delta.name === undefined && delta.index === undefined) throw withoutName();
			const { index } = delta;
			draft = {
				index,
				id: undefined,
				name: undefined,
				arguments: '',
				signature: undefined,
				nesting: new JsonNesting(),
			};
			this.#drafts.push(draft);
			events.push({ type: 'tool_call_start' });
		}
		draft.id ??= delta.id;
		draft.name ??= delta.name;
		draft.signature ??= delta.signature;
		if (delta.arguments === '') return events;
		draft.arguments += delta.arguments;
		events.push({ type: 'tool_call_delta', arguments: delta.arguments });
		return events;
	}

	/**
	 * The calls, in the order of their indexes if all have one. Every id is unique: a call without an id, or with the id of
	 * another call, gets a new one.
	 * @throws ProviderError for a call without a name
	 */
	finish(): ReceivedToolCall[] {
		const drafts = this.#drafts.every(({ index }) => index !== undefined)
			? this.#drafts.toSorted((a, b) => Number(a.index) - Number(b.index))
			: this.#drafts;
		const ids = new Set<string>();
		return drafts.map(({ id: given, name, arguments: text, signature }) => {
			if (name === undefined) throw withoutName();
			const id = given === undefined || ids.has(given) ? `call_${randomBytes(12).toString('hex')}` : given;
			ids.add(id);
			return { type: 'tool_call', id, name, arguments: text, ...(signature === undefined ? {} : { signature }) };
		});
	}

	/**
	 * The call that a piece continues; undefined if it begins a new call. The id of the piece finds the call, otherwise its
	 * index, otherwise the last call is meant. A piece with a name begins a new call if the found call has another name, or is
	 * complete and the piece begins with an object again. Some services give parallel calls the same index, and some repeat
	 * the name in every piece.
	 */
	#find({ index, id, name, arguments: text }: ToolCallDelta): Draft | undefined {
		const begins = name !== undefined && /^\s*[{[]/.test(text);
		const ofIndex = this.#drafts.filter((draft) => index !== undefined && draft.index === index);
		const ofId = this.#drafts.filter((draft) => id !== undefined && draft.id === id);
		let known: Draft[];
		if (ofId.length > 0) {
			const ofBoth = index === undefined ? ofId : ofId.filter((draft) => draft.index === index);
			known = ofBoth.length > 0 || name !== undefined ? ofBoth : ofId;
		} else if (ofIndex.length > 0) {
			// A new id with the beginning of an object is a new call.
			const isNew = id !== undefined && begins && ofIndex.every((draft) => draft.id !== undefined);
			known = isNew ? [] : ofIndex;
		} else {
			const goesOn = index === undefined && id === undefined && name === undefined;
			known = goesOn ? this.#drafts.slice(-1) : [];
		}
		return known.findLast((draft) => {
			const hasName = name === undefined || draft.name === undefined || draft.name === name;
			return hasName && !(begins && draft.nesting.isComplete(draft.arguments));
		});
	}
}

function isOptional(value: unknown, type: 'number' | 'string'): boolean {
	return value === undefined || value === null || typeof value === type;
}

function notBlank(value: unknown): string | undefined {
	return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function withoutName() {
	return protocolError('A tool call has no name.');
}
