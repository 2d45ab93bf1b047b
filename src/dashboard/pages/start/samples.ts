import manual from '../../../../data/samples/brook-kettle-manual.pdf';
import privacy from '../../../../data/samples/privacy.txt';
import shipping from '../../../../data/samples/shipping-and-returns.docx';
import visit from '../../../../data/samples/visit-and-contact.html';
import warranty from '../../../../data/samples/warranty-and-repair.md';
import { errorOfResponse } from '../../api/api-error.ts';
import { BASE_URL } from '../../api/client.ts';

/** The sample documents: their file names, and those that the build has given them. */
const SAMPLES: readonly (readonly [fileName: string, builtName: string])[] = [
	['brook-kettle-manual.pdf', manual],
	['shipping-and-returns.docx', shipping],
	['visit-and-contact.html', visit],
	['warranty-and-repair.md', warranty],
	['privacy.txt', privacy],
];

/** Loads the sample documents from this server. @throws ApiError, TypeError */
export function loadSamples(): Promise<File[]> {
	return Promise.all(
		SAMPLES.map(async ([fileName, builtName]) => {
			const response = await fetch(new URL(`dashboard/${builtName.replace(/^\.\//, '')}`, BASE_URL));
			if (!response.ok) throw await errorOfResponse(response);
			return new File([await response.blob()], fileName);
		}),
	);
}

export function isSample(fileName: string | null): boolean {
	return SAMPLES.some(([name]) => name === fileName);
}
