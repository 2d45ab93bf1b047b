/** A style sheet for shadow roots, made in a way that no Content-Security-Policy of the page speaks about. */
export function styleSheet(css: string): CSSStyleSheet {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync(css);
	return sheet;
}
