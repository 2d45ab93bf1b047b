import { getResolvedPDFJS } from 'unpdf';
import type { GrayPicture } from '../contract/index.ts';
import type { PdfPage } from './pdf-document.ts';

/** An affine map of the plane, as PDF writes it: `x' = a x + c y + e`, `y' = b x + d y + f`. */
type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** A picture that a page paints. */
interface PlacedPicture {
	/** Maps the unit square, from its lower left corner, to the page in points from its upper left corner. */
	matrix: Matrix;
	width: number;
	height: number;
	/** Paints its dark pixels only (an image mask). */
	isMask: boolean;
	/** Its decoded pixels, or the name under which PDF.js has them. */
	data: string | DecodedPicture | Uint8Array;
}

/** A picture as PDF.js decodes it (its ImageKind). */
interface DecodedPicture {
	width: number;
	height: number;
	kind: number;
	data: Uint8Array | Uint8ClampedArray | null;
}

/** The pictures of a page and its size in points. */
export interface PagePictures {
	width: number;
	height: number;
	pictures: PlacedPicture[];
}

/** The pictures of a page as one. */
export interface PageRaster extends GrayPicture {
	/** Pixels of one point. */
	scale: number;
}

/** The maximum number of pixels of one picture: A4 at 600 dots an inch has 35 million. PDF.js leaves out larger ones. */
export const MAX_PICTURE_PIXELS = 40_000_000;
/** The maximum number of pixels of a page: A4 at 300 dots an inch has 8.7 million. */
const MAX_RASTER_PIXELS = 10_000_000;
/** Pixels that are drawn for one page, overlapping pictures included. */
const MAX_DRAWN_PIXELS = 10 * MAX_RASTER_PIXELS;
/** Pixels of the different pictures of one page that are converted to gray. */
const MAX_CONVERTED_PIXELS = 100_000_000;
const MAX_PICTURES = 500;
/** The most samples of a picture, in each direction, whose mean is one pixel of the page. */
const MAX_SAMPLES = 4;

const GRAY_1_BIT = 1;
const RGB = 2;
const RGBA = 3;

/** The pictures that a page paints, where it paints them. */
export async function picturesOf(page: PdfPage): Promise<PagePictures> {
	const { OPS } = await getResolvedPDFJS();
	const { transform, width, height } = page.getViewport({ scale: 1 });
	const { fnArray, argsArray } = await page.getOperatorList();
	const pictures: PlacedPicture[] = [];
	const saved: Matrix[] = [];
	let matrix = transform as unknown as Matrix;
	for (let at = 0; at < fnArray.length && pictures.length < MAX_PICTURES; at++) {
		const args = argsArray[at];
		switch (fnArray[at]) {
			case OPS.save:
				saved.push(matrix);
				break;
			case OPS.paintFormXObjectBegin:
				saved.push(matrix);
				if (args[0]) matrix = product(matrix, args[0]);
				break;
			case OPS.restore:
			case OPS.paintFormXObjectEnd:
				matrix = saved.pop() ?? matrix;
				break;
			case OPS.transform:
				matrix = product(matrix, args);
				break;
			case OPS.paintImageXObject:
				pictures.push({ matrix, data: args[0], width: args[1], height: args[2], isMask: false });
				break;
			case OPS.paintInlineImageXObject:
				pictures.push({ matrix, data: args[0], width: args[0].width, height: args[0].height, isMask: false });
				break;
			case OPS.paintImageMaskXObject:
				pictures.push({ matrix, data: args[0].data, width: args[0].width, height: args[0].height, isMask: true });
		}
	}
	return { width, height, pictures };
}

/** The share of a page that its largest picture covers. */
export function coverageOf({ width, height, pictures }: PagePictures): number {
	return Math.max(0, ...pictures.map(({ matrix }) => areaOf(matrix) / Math.max(1, width * height)));
}

/** Draws the pictures of a page on white, in the resolution of the finest large one; null if none can be decoded. */
export async function drawPictures(
	page: PdfPage,
	{ width, height, pictures }: PagePictures,
): Promise<PageRaster | null> {
	const large = pictures.filter(({ matrix }) => areaOf(matrix) > 0.05 * width * height);
	const finest = Math.max(...large.map((one) => Math.sqrt((one.width * one.height) / areaOf(one.matrix))));
	const scale = Math.min(finest, Math.sqrt(MAX_RASTER_PIXELS / (width * height)));
	const raster: PageRaster = {
		width: Math.max(1, Math.round(width * scale)),
		height: Math.max(1, Math.round(height * scale)),
		pixels: new Uint8Array(0),
		scale,
	};
	if (!(scale > 0) || raster.width * raster.height > 1.1 * MAX_RASTER_PIXELS) return null;
	raster.pixels = new Uint8Array(raster.width * raster.height).fill(255);
	let drawn = 0;
	let converted = 0;
	let isEmpty = true;
	/** A page may paint one picture many times. */
	const grays = new Map<PlacedPicture['data'], PagePicture | null>();
	for (const picture of pictures) {
		drawn += Math.min(areaOf(picture.matrix), width * height) * scale ** 2;
		if (drawn > MAX_DRAWN_PIXELS) break;
		let gray = grays.get(picture.data);
		if (gray === undefined) {
			converted += picture.width * picture.height;
			if (converted > MAX_CONVERTED_PIXELS) break;
			gray = await grayOf(page, picture);
			grays.set(picture.data, gray);
		}
		if (gray === null) continue;
		isEmpty = false;
		draw(raster, gray, product([scale, 0, 0, scale, 0, 0], picture.matrix));
	}
	return isEmpty ? null : raster;
}

/** A decoded picture of a page. */
interface PagePicture extends GrayPicture {
	/** What is white in it is transparent. */
	isTransparent: boolean;
}

async function grayOf(page: PdfPage, { data, isMask, width, height }: PlacedPicture): Promise<PagePicture | null> {
	const decoded = typeof data === 'string' ? await decodedPicture(page, data) : data;
	if (decoded === null) return null;
	if (ArrayBuffer.isView(decoded))
		return { width, height, pixels: bitsToGray(decoded, width, height), isTransparent: true };
	const { kind, data: bytes } = decoded;
	if (!bytes || !(decoded.width > 0 && decoded.height > 0)) return null;
	const size = { width: decoded.width, height: decoded.height };
	const count = size.width * size.height;
	if (isMask || kind === GRAY_1_BIT) {
		return { ...size, pixels: bitsToGray(bytes, size.width, size.height), isTransparent: isMask };
	}
	const channels = kind === RGB ? 3 : kind === RGBA ? 4 : 0;
	if (channels === 0 || bytes.length < count * channels) return null;
	return { ...size, pixels: colorsToGray(bytes, count, channels), isTransparent: kind === RGBA };
}

/** Waits until PDF.js has decoded a picture; null if it cannot. */
function decodedPicture(page: PdfPage, name: string): Promise<DecodedPicture | null> {
	const objects = name.startsWith('g_') ? page.commonObjs : page.objs;
	return new Promise((resolve) => objects.get(name, resolve));
}

/** One bit a pixel, each row from a new byte; a set bit is white. */
function bitsToGray(bits: ArrayLike<number>, width: number, height: number): Uint8Array {
	const pixels = new Uint8Array(width * height).fill(255);
	const rowBytes = (width + 7) >> 3;
	for (let y = 0; y < height; y++) {
		for (let x = 0; x < width; x++) {
			const byte = bits[y * rowBytes + (x >> 3)] ?? 255;
			if (((byte >> (7 - (x & 7))) & 1) === 0) pixels[y * width + x] = 0;
		}
	}
	return pixels;
}

/** Luminance (ITU-R BT.601) of colours on white. */
function colorsToGray(bytes: ArrayLike<number>, count: number, channels: number): Uint8Array {
	const pixels = new Uint8Array(count);
	for (let at = 0, from = 0; at < count; at++, from += channels) {
		const gray =
			(77 * (bytes[from] as number) + 150 * (bytes[from + 1] as number) + 29 * (bytes[from + 2] as number)) >> 8;
		const alpha = channels === 4 ? (bytes[from + 3] as number) : 255;
		pixels[at] = 255 - ((255 - gray) * alpha) / 255;
	}
	return pixels;
}

/** Draws a picture. Each pixel of the page is the mean of the picture's pixels that lie in it. @param matrix unit square → pixels of the page */
function draw(raster: PageRaster, picture: PagePicture, matrix: Matrix): void {
	const [a, b, c, d, e, f] = matrix;
	const determinant = a * d - b * c;
	if (!Number.isFinite(1 / determinant)) return;
	const xs = [e, e + a, e + c, e + a + c];
	const ys = [f, f + b, f + d, f + b + d];
	const left = Math.max(0, Math.floor(Math.min(...xs)));
	const right = Math.min(raster.width, Math.ceil(Math.max(...xs)));
	const top = Math.max(0, Math.floor(Math.min(...ys)));
	const bottom = Math.min(raster.height, Math.ceil(Math.max(...ys)));
	const density = Math.sqrt((picture.width * picture.height) / Math.abs(determinant));
	const samples = Math.min(MAX_SAMPLES, Math.max(1, Math.round(density)));
	for (let y = top; y < bottom; y++) {
		for (let x = left; x < right; x++) {
			let sum = 0;
			let count = 0;
			for (let sample = 0; sample < samples * samples; sample++) {
				const dx = x - e + ((sample % samples) + 0.5) / samples;
				const dy = y - f + (Math.floor(sample / samples) + 0.5) / samples;
				const u = (d * dx - c * dy) / determinant;
				const v = (a * dy - b * dx) / determinant;
				if (u < 0 || u >= 1 || v <= 0 || v > 1) continue;
				// The first row of a picture is its upper edge.
				sum += picture.pixels[
					Math.floor((1 - v) * picture.height) * picture.width + Math.floor(u * picture.width)
				] as number;
				count++;
			}
			if (count === 0) continue;
			const at = y * raster.width + x;
			const gray = sum / count;
			if (!picture.isTransparent || gray < (raster.pixels[at] as number)) raster.pixels[at] = gray;
		}
	}
}

function areaOf([a, b, c, d]: Matrix): number {
	return Math.abs(a * d - b * c);
}

/** First `second`, then `first`. */
function product(first: Matrix, second: Matrix): Matrix {
	const [a, b, c, d, e, f] = first;
	const [g, h, i, j, k, l] = second;
	return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}
