import type { Operations } from '../contract/index.ts';
import type { Models } from '../models/index.ts';
import type { Handler } from './call.ts';

export interface ModelHandlersOptions {
	models: Pick<Models, 'list'>;
}

/** Models: what is configured. */
export function modelHandlers({ models }: ModelHandlersOptions): { listModels: Handler<Operations['listModels']> } {
	return {
		async listModels() {
			return { data: models.list(), next_cursor: null };
		},
	};
}
