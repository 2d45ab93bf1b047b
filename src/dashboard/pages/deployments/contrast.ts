const COLOUR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

/** A hexadecimal colour with six digits, as the browser's picker needs it; null for another text. */
export function sixDigits(text: string): string | null {
	if (!COLOUR.test(text)) return null;
	return text.length === 7
		? text.toLowerCase()
		: `#${[...text.slice(1)].map((digit) => digit + digit).join('')}`.toLowerCase();
}

/** The contrast of two colours with six digits, 1 to 21 (WCAG 2.2, relative luminance). */
export function contrastOf(one: string, other: string): number {
	const [light, dark] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => b - a) as [number, number];
	return (light + 0.05) / (dark + 0.05);
}

function luminanceOf(colour: string): number {
	const channel = (at: number) => {
		const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
