import type { Operations } from '../contract/index.ts';
import type { ModelListing, Models } from '../models/index.ts';
import type { Handler } from './call.ts';
import type { Cursors } from './cursors.ts';

export interface ModelHandlersOptions {
	models: Pick<Models, 'list'>;
	cursors: Cursors;
}

/** Models: list the configured ones. */
export function modelHandlers({ models, cursors }: ModelHandlersOptions): {
	listModels: Handler<Operations['listModels']>;
} {
	return {
		async listModels({ query }) {
			// The order is that of the configuration, and a list position is an index in it.
			const page = cursors.read('models', query, 'asc');
			const all = models.list().map((model, at) => ({ model, place: { at: at + 1, id: '' } }));
			const remaining = all.slice(page.after?.at ?? 0);
			return cursors.page(
				'models',
				page,
				remaining,
				({ place: position }) => position,
				({ model }): ModelListing => model,
			);
		},
	};
}
