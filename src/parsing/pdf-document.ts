import { getResolvedPDFJS } from 'unpdf';
import { AppError, messageOf } from '../base/index.ts';

// PDF.js needs this method (ECMAScript 2024) to pass on fonts; Node 20 does not have it. Without it, a list of operators ends at the
// first font.
if (!('transferToFixedLength' in ArrayBuffer.prototype)) {
	Object.defineProperty(ArrayBuffer.prototype, 'transferToFixedLength', {
		value(this: ArrayBuffer, length: number = this.byteLength): ArrayBuffer {
			return this.slice(0, length);
		},
		configurable: true,
		writable: true,
	});
}

/** A PDF that PDF.js has opened. */
export type PdfDocument = Awaited<ReturnType<Awaited<ReturnType<typeof getResolvedPDFJS>>['getDocument']>['promise']>;

/** For `openPdf`: leave out all pictures. */
export const NO_PICTURES = 0;

/** One page of it. */
export type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;

/**
 * @param maxPicturePixels larger pictures are left out, so that no time is spent on decoding them
 * @throws AppError `unreadable_file`
 */
export async function openPdf(bytes: Uint8Array, maxPicturePixels: number): Promise<PdfDocument> {
	const { getDocument } = await getResolvedPDFJS();
	try {
		// PDF.js transfers the buffer. It fetches nothing and generates no code from fonts.
		return await getDocument({
			data: new Uint8Array(bytes),
			isEvalSupported: false,
			useWorkerFetch: false,
			disableFontFace: true,
			useSystemFonts: false,
			enableXfa: false,
			maxImageSize: maxPicturePixels,
			verbosity: 0,
		}).promise;
	} catch (error) {
		throw openFailure(error);
	}
}

/** The error of a PDF of which nothing can be read. */
export function openFailure(error: unknown): AppError {
	const name = error instanceof Error ? error.name : '';
	const message =
		name === 'PasswordException'
			? 'The PDF is protected with a password. Remove the password and upload it again.'
			: 'The PDF is damaged or is no PDF: it cannot be opened.';
	return new AppError('unreadable_file', message, { cause: messageOf(error) });
}
