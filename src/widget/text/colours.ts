type Rgb = readonly [number, number, number];

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/** Colours derived from a brand colour. */
export interface BrandColours {
	/** The brand colour, as a background. */
	brand: string;
	/** Text on it: contrast 4.5 at least. */
	onBrand: string;
	/** Nearest to the brand colour that text on `surface` and `raised` may have: contrast 4.5 at least. */
	accent: string;
	/** Border of a shape in the brand colour, on the surface: contrast 3 at least. */
	edge: string;
}

/**
 * Derives readable colours from any brand colour (WCAG 2.2, contrast minimum and non-text contrast).
 * @param brand `#rgb` or `#rrggbb`
 * @param surface background of the chat
 * @param raised background of replies and notices; its lightness is between surface and text
 */
export function brandColours(brand: string, surface: string, raised: string): BrandColours {
	const colour = parse(brand);
	const background = parse(surface);
	// Black or white always has a contrast of 4.58 or more.
	const onBrand = contrast(colour, WHITE) >= contrast(colour, BLACK) ? WHITE : BLACK;
	// A colour that is readable on `raised` has more contrast on `surface`.
	const accent = ensureContrast(colour, parse(raised), 4.5);
	return {
		brand: format(colour),
		onBrand: format(onBrand),
		accent: format(accent),
		edge: format(ensureContrast(colour, background, 3)),
	};
}

/** The contrast of two colours, 1 to 21 (WCAG 2.2). */
export function contrastOf(one: string, other: string): number {
	return contrast(parse(one), parse(other));
}

/** A colour moved towards black or white, away from its background, until the contrast is reached. */
function ensureContrast(colour: Rgb, background: Rgb, minContrast: number): Rgb {
	const goal = contrast(background, WHITE) >= contrast(background, BLACK) ? WHITE : BLACK;
	for (let step = 0; step < 20; step++) {
		const mixed = mix(colour, goal, step / 20);
		if (contrast(mixed, background) >= minContrast) return mixed;
	}
	return goal;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
	const at = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share);
	return [at(0), at(1), at(2)];
}

function contrast(one: Rgb, other: Rgb): number {
	const [a, b] = [luminance(one), luminance(other)];
	return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
	const linear = (value: number) => {
		const share = value / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function parse(hex: string): Rgb {
	const digits = hex.replace(/^#/, '').replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3');
	const number = Number.parseInt(digits, 16);
	return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

function format(colour: Rgb): string {
	return `#${colour.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
