import { AppError, timestamp } from '../base/index.ts';
import { listMessages, presentConversation, presentMessage, presentNote } from '../conversations/index.ts';
import type { ConversationRecord, MessageRecord, Records, Store } from '../store/index.ts';

const PAGE_SIZE = 200;
/** The most notes of an export: the first. */
const MAX_NOTES = 1_000;
/** The longest text of an export (characters). It is made in memory. */
const MAX_CHARS = 32 * 1024 * 1024;

/** A conversation as a file. */
export interface ExportedConversation {
	contentType: string;
	fileName: string;
	body: string;
}

/**
 * A conversation with all its messages, as JSON or as Markdown.
 * @throws AppError `invalid_request` for a conversation that is too long
 */
export async function exportConversation(
	store: Store,
	conversation: ConversationRecord,
	format: 'json' | 'markdown',
): Promise<ExportedConversation> {
	const messages = await allMessages(store, conversation.id);
	if (format === 'json') {
		const content = {
			conversation: presentConversation(conversation),
			messages: messages.map(presentMessage),
			notes: (await allNotes(store, conversation.id)).map(presentNote),
		};
		const body = `${JSON.stringify(content, null, 2)}\n`;
		return { contentType: 'application/json', fileName: `${conversation.id}.json`, body };
	}
	const body = toMarkdown(conversation, messages);
	return { contentType: 'text/markdown; charset=utf-8', fileName: `${conversation.id}.md`, body };
}

async function allMessages(store: Store, conversationId: string): Promise<MessageRecord[]> {
	const messages: MessageRecord[] = [];
	let chars = 0;
	for (;;) {
		const last = messages.at(-1);
		const page = await listMessages(store, {
			where: { conversation_id: conversationId },
			after: last && { at: last.seq, id: last.id },
			order: 'asc',
			limit: PAGE_SIZE,
		});
		messages.push(...page);
		for (const message of page) chars += JSON.stringify(message).length;
		if (chars > MAX_CHARS) {
			throw new AppError('invalid_request', 'The conversation is too long for an export. Read its messages in pages.');
		}
		if (page.length < PAGE_SIZE) return messages;
	}
}

async function allNotes(store: Store, conversationId: string): Promise<Records['notes'][]> {
	const notes: Records['notes'][] = [];
	for (;;) {
		const last = notes.at(-1);
		const page = await store.list('notes', {
			where: { conversation_id: conversationId },
			after: last && { at: last.created_at, id: last.id },
			order: 'asc',
			limit: PAGE_SIZE,
		});
		notes.push(...page);
		if (notes.length >= MAX_NOTES || page.length < PAGE_SIZE) return notes;
	}
}

/** For people: who said what and when, with the sources of each answer. */
function toMarkdown(
	{ id, title, created_at, end_user }: ConversationRecord,
	messages: readonly MessageRecord[],
): string {
	const visitor = end_user?.name ?? end_user?.email ?? end_user?.id ?? 'Visitor';
	const head = [`# ${asText(title ?? 'Conversation')}`, `${id} · ${timestamp(created_at)} · ${asText(visitor)}`];
	const parts = messages.map((message) => {
		const author = message.author.name ?? AUTHORS[message.author.type];
		const sources = message.citations.map(
			({ index, title, page, url }) =>
				`[${index}] ${asText(title)}${page === null ? '' : `, page ${page}`}${url === null ? '' : ` <${url}>`}`,
		);
		const paragraphs = [
			`## ${asText(author)}, ${timestamp(message.created_at)}`,
			// A visitor's text is a quotation: its headings must not look like those of other messages.
			message.author.type === 'visitor' ? quoted(message.content.trim()) : message.content.trim(),
			...(message.status === 'completed' ? [] : [`(${message.status.replace('_', ' ')})`]),
			...(sources.length === 0 ? [] : [sources.map((source) => `- ${source}`).join('\n')]),
		];
		return paragraphs.filter((text) => text !== '').join('\n\n');
	});
	return `${[...head, ...parts].join('\n\n')}\n`;
}

const AUTHORS = { visitor: 'Visitor', model: 'Assistant', human: 'Person' } as const;

const quoted = (text: string): string => text.replaceAll(/^/gm, '> ').replaceAll(/^> $/gm, '>');

/** A name or title as plain text of one line: characters with a meaning in Markdown are escaped. */
function asText(text: string): string {
	return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>#|~]/g, '\\$&');
}
