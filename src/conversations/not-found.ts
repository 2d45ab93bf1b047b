import { AppError } from '../base/index.ts';

export function conversationNotFound(): AppError {
	return new AppError('not_found', 'The conversation does not exist.');
}

/** The conversation existed when the request came. */
export function conversationErased(): AppError {
	return new AppError('not_found', 'The conversation was erased.');
}
