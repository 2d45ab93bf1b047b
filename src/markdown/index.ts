export { type MarkdownElement, type MarkdownNode, parseMarkdown, plainText, type Tag } from './markdown.ts';
export { safeUrl } from './safe-url.ts';
