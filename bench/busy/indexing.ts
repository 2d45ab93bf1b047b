import type { ServerProcess } from '../../test/support/server-process.ts';
import { until } from '../../test/support/until.ts';
import { call } from '../load/deploy.ts';
import { Corpus } from '../search/corpus.ts';

/** Number of sections (about 1.3 KB) of each of the hundred documents: most are a few pages, some a manual, three a book. */
const BOOKS = [20, 55, 90];
const SECTION_COUNTS = Array.from({ length: 100 }, (_, at) =>
	BOOKS.includes(at) ? 300 : at % 10 === 9 ? 60 : 4 + (at % 9) * 2,
);
const SEED = 7;
/** Concurrent uploads. */
const MAX_CONCURRENT_UPLOADS = 2;
const INDEXING_TIMEOUT_MS = 120_000;

/** A hundred documents. One part at a time is uploaded and indexed, in a new knowledge base. */
export class DocumentUploads {
	readonly #files: { name: string; content: Blob }[];
	constructor() {
		const corpus = new Corpus(SEED);
		this.#files = SECTION_COUNTS.map((sections, at) => {
			const { title, chunks } = corpus.document(sections);
			const text = chunks
				.map(({ text }, section) => `## ${section + 1}. ${text.slice(0, 40)}\n\n${text}.\n`)
				.join('\n');
			return { name: `document-${at}.md`, content: new Blob([`# ${title}\n\n${text}`]) };
		});
	}

	/** Starts to upload one of several similar parts into a new knowledge base. */
	begin(server: ServerProcess, part: number, parts: number): UploadRun {
		return new UploadRun(
			server,
			this.#files.filter((_, at) => at % parts === part),
		);
	}
}

/** The upload and indexing of one part. */
export class UploadRun {
	readonly #server: ServerProcess;
	readonly #path: Promise<string>;
	readonly #uploaded: Promise<unknown>;
	readonly #count: number;

	constructor(server: ServerProcess, files: readonly { name: string; content: Blob }[]) {
		this.#server = server;
		this.#count = files.length;
		this.#path = call(server, 'POST', '/api/v1/knowledge-bases', { name: 'Bench' }).then(
			({ id }) => `/api/v1/knowledge-bases/${id}`,
		);
		const waiting = files.values();
		const upload = async () => {
			for (const { name, content } of waiting) {
				const form = new FormData();
				form.set('file', content, name);
				await call(server, 'POST', `${await this.#path}/documents`, form);
			}
		};
		this.#uploaded = Promise.all(Array.from({ length: MAX_CONCURRENT_UPLOADS }, upload));
		this.#uploaded.catch(() => {});
	}

	/** Number of indexed documents. */
	async indexed(): Promise<number> {
		const { documents_indexed, documents_failed } = await call(this.#server, 'GET', `${await this.#path}/status`);
		if (documents_failed > 0) throw new Error(`${documents_failed} documents could not be indexed.`);
		return documents_indexed;
	}

	/** Waits until all documents are indexed, and removes them. */
	async end(): Promise<void> {
		await this.#uploaded;
		await until('all documents are indexed', async () => (await this.indexed()) === this.#count, INDEXING_TIMEOUT_MS);
		await call(this.#server, 'DELETE', await this.#path);
	}
}
