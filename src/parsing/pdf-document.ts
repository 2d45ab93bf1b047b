import { getResolvedPDFJS } from 'unpdf';
import { AppError, messageOf } from '../base/index.ts';
import { MAX_PICTURE_PIXELS } from './pdf-pictures.ts';

/** A PDF that PDF.js has opened. */
export type PdfDocument = Awaited<ReturnType<Awaited<ReturnType<typeof getResolvedPDFJS>>['getDocument']>['promise']>;

/** One page of it. */
export type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;

/** @throws AppError `unreadable_file` */
export async function openPdf(bytes: Uint8Array): Promise<PdfDocument> {
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
			maxImageSize: MAX_PICTURE_PIXELS,
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
