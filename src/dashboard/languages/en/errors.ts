import type { ErrorStrings } from '../error-text.ts';

/** English texts where they are better for people than the server's sentences, which are for programs. */
export const errors: ErrorStrings = {
	byCode: {
		assistant_archived: 'The assistant is archived. Activate it again to start conversations.',
		conversation_archived: 'The conversation is archived. Reopen it to send messages.',
		webhook_disabled: 'The webhook is disabled. Enable it first.',
		handoff_disabled: 'Visitors of this deployment cannot ask for a person. Its settings can allow it.',
		second_factor_required: 'Type in the code of your authenticator app, or a recovery code.',
		second_factor_setup_required: 'This workspace requires a second factor. Load the page again to set it up.',
		insufficient_scope: 'Your role does not permit this.',
		csrf_failed:
			'This page was opened at an address that the server does not know as its own. Open it at the server’s address.',
		precondition_failed: 'Somebody has changed this in the meantime. Load the page again and repeat the change.',
		idempotency_key_reused:
			'This was sent before, with another content or in a conversation that was erased. Load the page again and repeat it.',
	},
	sentences: [],
	reasons: [],
};
