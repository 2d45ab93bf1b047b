import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';

/**
 * The result of an MCP server's function as text for a model: texts as they are, structured content as JSON unless a text is
 * equal to it, and a line about each content that is not text.
 */
export function mcpResultText({ content, structuredContent }: CallToolResult): string {
	const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
	const parts = content.map(partText);
	if (structuredContent !== undefined && !texts.some((text) => isJsonOf(text, structuredContent))) {
		parts.push(JSON.stringify(structuredContent));
	}
	return parts.filter((part) => part !== '').join('\n\n') || 'The function gave no content.';
}

function partText(part: ContentBlock): string {
	switch (part.type) {
		case 'text':
			return part.text;
		case 'image':
		case 'audio':
			return `[${part.type}: ${part.mimeType}, ${sizeOf(part.data)}, which cannot be shown here]`;
		case 'resource_link': {
			const about = [part.title ?? part.name, part.mimeType, part.description].filter(Boolean).join(', ');
			return `[resource: ${part.uri} (${about})]`;
		}
		case 'resource': {
			const { resource } = part;
			const type = resource.mimeType ?? 'of no known type';
			if ('text' in resource) return `[resource: ${resource.uri} (${type})]\n${resource.text}`;
			return `[resource: ${resource.uri} (${type}, ${sizeOf(resource.blob)}), which cannot be shown here]`;
		}
	}
}

/** The size of data in Base64. */
function sizeOf(base64: string): string {
	return `${Math.ceil((base64.length * 3) / 4 / 1024)} KiB`;
}

/** Whether a text is the JSON of a value: for older clients, servers send structured content as text too. */
function isJsonOf(text: string, value: object): boolean {
	if (!text.trimStart().startsWith('{')) return false;
	try {
		return isDeepStrictEqual(JSON.parse(text), value);
	} catch {
		return false;
	}
}
