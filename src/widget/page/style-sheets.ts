/** Adds a style sheet to a shadow root in a way that no Content-Security-Policy of the page speaks about. */
export function adopt(root: ShadowRoot, css: string): void {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync(css);
	root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}
