import { AppError } from '../../src/base/index.ts';
import type { ChatModel, ChatRequest, ModelEvent } from '../../src/models/index.ts';
import type { ToolFunction, ToolOutcome } from '../../src/tools/index.ts';
import type { Owner, Scheduler } from './scheduler.ts';

/** One call of the model, with what it has written. */
export interface ModelCall {
	question: string;
	text: string;
	hasEnded: boolean;
}

export interface ModelHabits {
	failChance: number;
	stallChance: number;
	emptyChance: number;
	toolChance: number;
	/** Ignores an abort and writes on, as a defective provider may. */
	ignoresAbort: boolean;
	maxPieces: number;
	maxPauseMs: number;
}

export const TOOL_NAME = 'lookup';

/** A remote model: writes pieces of text at times that the seed decides, fails, stalls, ends early, or asks for calls of a tool. */
export class SimulatedModel {
	/** All calls in all processes: a stored reply consists of texts that the model has written. */
	readonly calls: ModelCall[] = [];
	/** Executed calls of the tool, by the idempotency key of the call. */
	readonly toolExecutions = new Map<string, number>();
	/** At the end of a simulation it neither fails nor stalls. */
	isReliable = false;
	readonly #scheduler: Scheduler;
	readonly #habits: ModelHabits;
	#toolCalls = 0;

	constructor(scheduler: Scheduler, habits: ModelHabits) {
		this.#scheduler = scheduler;
		this.#habits = habits;
	}

	/** The model as one process of the server sees it. */
	chatModel(owner: Owner): ChatModel {
		return { stream: (request, signal, onEvent) => this.#stream(owner, request, signal, onEvent) };
	}

	/** The function of the tool as one process of the server sees it. */
	toolFunction(owner: Owner, toolId: string): ToolFunction {
		return {
			tool_id: toolId,
			name: TOOL_NAME,
			description: null,
			parameters: { type: 'object' },
			call: (_args, signal, context) => this.#callTool(owner, signal, context?.key ?? ''),
		};
	}

	#stream(
		owner: Owner,
		request: ChatRequest,
		signal: AbortSignal,
		onEvent: (event: ModelEvent) => void,
	): Promise<void> {
		const { random } = this.#scheduler;
		const habits = this.isReliable ? { ...this.#habits, failChance: 0, stallChance: 0 } : this.#habits;
		const number = this.calls.length;
		const call: ModelCall = { question: request.question, text: '', hasEnded: false };
		this.calls.push(call);
		const fails = random.chance(habits.failChance);
		const stalls = !fails && random.chance(habits.stallChance);
		const isEmpty = !fails && !stalls && random.chance(habits.emptyChance);
		const callsTool = request.tools.length > 0 && request.rounds.length < 3 && random.chance(habits.toolChance);
		let remaining = isEmpty ? 0 : random.between(callsTool ? 0 : 1, habits.maxPieces);
		return new Promise((resolve, reject) => {
			const onAbort = () => end(() => reject(signal.reason));
			const end = (settle: () => void) => {
				if (call.hasEnded) return;
				call.hasEnded = true;
				signal.removeEventListener('abort', onAbort);
				settle();
			};
			if (!habits.ignoresAbort) signal.addEventListener('abort', onAbort);
			const emit = (event: ModelEvent): boolean => {
				try {
					onEvent(event);
					return true;
				} catch (error) {
					end(() => reject(error));
					return false;
				}
			};
			const writePiece = () => {
				if (call.hasEnded) return;
				if (remaining > 0) {
					const text = `${number}.${remaining} `;
					call.text += text;
					remaining--;
					if (emit({ type: 'delta', text })) next();
				} else if (fails) end(() => reject(new AppError('model_error', 'The simulated model failed.')));
				else if (callsTool) this.#askForTool(emit, () => end(resolve));
				else if (!stalls) end(resolve);
			};
			const next = () => {
				// Sometimes several pieces arrive at once.
				const delayMs = random.chance(0.3) ? 0 : random.next() * habits.maxPauseMs;
				this.#scheduler.schedule({ label: `model ${number}`, delayMs, owner, run: writePiece });
			};
			next();
		});
	}

	#askForTool(emit: (event: ModelEvent) => boolean, end: () => void): void {
		const count = this.#scheduler.random.between(1, 2);
		for (let at = 0; at < count; at++) {
			const id = `call_${++this.#toolCalls}`;
			if (!emit({ type: 'tool_call', id, name: TOOL_NAME, arguments: { number: this.#toolCalls } })) return;
		}
		end();
	}

	#callTool(owner: Owner, signal: AbortSignal, key: string): Promise<ToolOutcome> {
		const { random } = this.#scheduler;
		this.toolExecutions.set(key, (this.toolExecutions.get(key) ?? 0) + 1);
		return new Promise((resolve, reject) => {
			const onAbort = () => reject(signal.reason);
			signal.addEventListener('abort', onAbort);
			const isError = random.chance(0.2);
			const error = isError ? { code: 'bad_status' as const, message: 'It failed.' } : null;
			const run = () => {
				signal.removeEventListener('abort', onAbort);
				resolve({ result: `result of ${key}`, is_error: isError, error });
			};
			this.#scheduler.schedule({ label: `tool ${key}`, delayMs: random.next() * 200, owner, run });
		});
	}
}
