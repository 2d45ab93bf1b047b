import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import type { TextRecognition } from '../contract/index.ts';

const LIBRARY = 'tesseract.js';
/** The folders of a language's package with the data for the library's engine, the more exact first. */
const DATA_FOLDERS = ['4.0.0_best_int', '4.0.0'];

/** The installed packages for text recognition, or sentences about what is missing. */
export type RecognitionPackages =
	| { recognition: TextRecognition; version: string; folder: string }
	| { problem: string };

/**
 * Finds the packages for text recognition. Nothing is downloaded: the operator installs them.
 * @param languages as in the settings: `eng+deu`
 * @param folder the folder that holds their `node_modules`; without one, they are looked for beside this program
 */
export function findRecognitionPackages(languages: string, folder: string | undefined): RecognitionPackages {
	const codes = [...new Set(languages.split('+'))];
	const names = [LIBRARY, ...codes.map(packageOf)];
	const howTo = `Install ${names.join(' ')} with npm into a folder, and name it in PARLEY_OCR_DIR.`;
	if (folder === undefined && isSea()) {
		return { problem: `The single executable has no text recognition (OCR). ${howTo}` };
	}
	const folders = folder === undefined ? foldersAbove(fileURLToPath(import.meta.url)) : [folder];
	const homeOf = (name: string) =>
		folders.map((one) => join(one, 'node_modules', name)).find((home) => existsSync(join(home, 'package.json')));
	const [library, ...data] = names.map(homeOf);
	const place = folder ?? 'the installed packages';
	if (!library) return { problem: `${LIBRARY} is not in ${place}. ${howTo}` };
	const found: TextRecognition['languages'] = [];
	for (const [index, code] of codes.entries()) {
		const home = data[index];
		const files = home ? DATA_FOLDERS.map((name) => join(home, name, `${code}.traineddata.gz`)) : [];
		const path = files.find(existsSync);
		if (path === undefined) return { problem: `${packageOf(code)} is not in ${place}. ${howTo}` };
		found.push({ code, path });
	}
	const { version, main } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as Record<string, string>;
	return {
		recognition: { library: join(library, main ?? 'index.js'), languages: found },
		version: version ?? '',
		folder: dirname(library),
	};
}

/** The folders in which Node looks for the packages of a file. */
function foldersAbove(file: string): string[] {
	const folders: string[] = [];
	for (let folder = dirname(file); folder !== folders.at(-1); folder = dirname(folder)) folders.push(folder);
	return folders;
}

function packageOf(code: string): string {
	return `@tesseract.js-data/${code}`;
}
