import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError, shortageOf } from '../base/index.ts';
import type { GrayPicture, RecognisedLine, TextRecognition } from '../contract/index.ts';

/** A box in pixels from the upper left corner. */
interface Box {
	x0: number;
	y0: number;
	x1: number;
	y1: number;
}

/** The part of tesseract.js (version 7) that is used here. Its types are not installed with the server. */
interface Tesseract {
	createWorker(languages: string[], engine: number, options: object): Promise<Worker>;
}

interface Worker {
	setParameters(parameters: Record<string, string>): Promise<unknown>;
	recognize(image: Buffer, options: object, output: object): Promise<{ data: { blocks: TesseractBlock[] | null } }>;
	terminate(): Promise<unknown>;
}

interface TesseractBlock {
	paragraphs: Array<{ lines: TesseractLine[] }>;
}

interface TesseractLine {
	words: Array<{ text: string; confidence: number; bbox: Box }>;
	bbox: Box;
	baseline: Box;
	rowAttributes?: { row_height?: number; rowHeight?: number };
}

/** The engine of neural networks (OEM.LSTM_ONLY). The data of other engines is not installed. */
const LSTM_ONLY = 1;
/** Processor time of one page. An ordinary page takes 2 to 5 seconds. */
const MAX_PAGE_CPU_MS = 60_000;
const CHECK_MS = 250;
/** Time of one page, and of the start. It ends the wait for a thread that has ended: such a thread takes no processor time. */
const MAX_WAIT_MS = 300_000;
/** Processor time of the pages of a document, and its time on a machine that is busy with other work. */
const MAX_TOTAL_CPU_MS = 30 * 60_000;
const MAX_TOTAL_MS = 100 * 60_000;
/** Of 100. Tesseract finds "words" in photographs, with less. */
const MIN_WORD_CONFIDENCE = 30;
const MIN_LINE_CONFIDENCE = 50;
/** The rules of a table, which are read as bars. */
const RULES = /^[|¦]+|[|¦]+$/g;

/** Recognises the text of pictures with tesseract.js, in a thread of its own. Starts with the first picture. */
export class TextRecogniser implements AsyncDisposable {
	readonly #recognition: TextRecognition;
	readonly #maxWaitMs: number;
	readonly #maxTotalCpuMs: number;
	readonly #cpuAtStart = process.cpuUsage();
	readonly #startedAt = performance.now();
	#worker: Promise<Worker> | undefined;

	/**
	 * @param maxWaitMs the maximum time of one page, and of the start
	 * @param maxTotalCpuMs the processor time of this process after which no more pages are recognised
	 */
	constructor(recognition: TextRecognition, maxWaitMs = MAX_WAIT_MS, maxTotalCpuMs = MAX_TOTAL_CPU_MS) {
		this.#recognition = recognition;
		this.#maxWaitMs = maxWaitMs;
		this.#maxTotalCpuMs = maxTotalCpuMs;
	}

	/** Whether the time of the document is used up. The process that parses it has a longer time limit, so what was read is kept. */
	get isExhausted(): boolean {
		const { user, system } = process.cpuUsage(this.#cpuAtStart);
		return (user + system) / 1000 > this.#maxTotalCpuMs || performance.now() - this.#startedAt > MAX_TOTAL_MS;
	}

	/** The lines of a page in reading order; null if the page takes too long or cannot be read. */
	async linesOf(page: GrayPicture): Promise<RecognisedLine[] | null> {
		this.#worker ??= startWorker(this.#recognition, this.#maxWaitMs);
		const worker = await this.#worker;
		const recognising = worker.recognize(portableGrayMap(page), {}, { blocks: true, text: false });
		const result = await withLimits(recognising, this.#maxWaitMs);
		if (result !== null) return (result.data.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap(linesOf));
		// Nothing else ends a recognition.
		this.#worker = undefined;
		await worker.terminate();
		return null;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await (await this.#worker?.catch(() => undefined))?.terminate();
	}
}

/**
 * Loads the library and the languages from the operator's files. It finds all of them in one local folder, so it fetches nothing.
 * @throws AppError `unavailable` if they cannot be used, ResourceShortage if the system lacks something
 */
async function startWorker({ library, languages }: TextRecognition, maxWaitMs: number): Promise<Worker> {
	let folder: string | undefined;
	let timeout: NodeJS.Timeout | undefined;
	try {
		const langPath = await mkdtemp(join(tmpdir(), 'parley-languages-'));
		folder = langPath;
		for (const { code, path } of languages) await symlink(path, join(langPath, `${code}.traineddata.gz`));
		const { default: tesseract } = (await import(pathToFileURL(library).href)) as { default: Tesseract };
		const codes = languages.map(({ code }) => code);
		// If it cannot load a language, it calls the handler, and its promise stays pending.
		const worker = await new Promise<Worker>((resolve, reject) => {
			const options = { langPath, cacheMethod: 'none', errorHandler: reject };
			timeout = setTimeout(() => reject(new Error(`It has not started after ${maxWaitMs} ms.`)), maxWaitMs);
			tesseract.createWorker(codes, LSTM_ONLY, options).then(resolve, reject);
		});
		await worker.setParameters({ user_defined_dpi: '300' });
		return worker;
	} catch (cause) {
		throw shortageOf(cause) ?? new AppError('unavailable', 'Text recognition (OCR) could not be started.', { cause });
	} finally {
		clearTimeout(timeout);
		if (folder !== undefined) await rm(folder, { recursive: true, force: true });
	}
}

/** The result; null if the page's processor time or `maxWaitMs` is used up first, or recognition fails. */
async function withLimits<T>(result: Promise<T>, maxWaitMs: number): Promise<T | null> {
	const begun = process.cpuUsage();
	let check: NodeJS.Timeout | undefined;
	let timeout: NodeJS.Timeout | undefined;
	const overdrawn = new Promise<null>((resolve) => {
		timeout = setTimeout(() => resolve(null), maxWaitMs);
		check = setInterval(() => {
			const { user, system } = process.cpuUsage(begun);
			if ((user + system) / 1000 > MAX_PAGE_CPU_MS) resolve(null);
		}, CHECK_MS);
	});
	try {
		return await Promise.race([result.catch(() => null), overdrawn]);
	} finally {
		clearInterval(check);
		clearTimeout(timeout);
	}
}

/** The simplest format that the library reads (Netpbm, PGM). */
function portableGrayMap({ width, height, pixels }: GrayPicture): Buffer {
	return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]);
}

function linesOf({ lines }: TesseractBlock['paragraphs'][number]): RecognisedLine[] {
	const sizes = lines.map(
		({ bbox, rowAttributes }) => rowAttributes?.rowHeight ?? rowAttributes?.row_height ?? bbox.y1 - bbox.y0,
	);
	const size = sizes.sort((a, b) => a - b)[sizes.length >> 1] ?? 0;
	return lines.flatMap((line) => {
		const words = line.words
			.map((word) => ({ ...word, text: word.text.trim().replace(RULES, '') }))
			.filter(({ text, confidence }) => text !== '' && confidence >= MIN_WORD_CONFIDENCE);
		const confidence = line.words.reduce((sum, word) => sum + word.confidence, 0) / Math.max(1, line.words.length);
		if (words.length === 0 || confidence < MIN_LINE_CONFIDENCE) return [];
		const { y0, y1 } = line.baseline;
		return [
			{
				words: words.map(({ text, bbox }) => ({ text, left: bbox.x0, right: bbox.x1 })),
				baseline: (y0 + y1) / 2,
				size,
			},
		];
	});
}
