import { prepareBackupFolder } from './backup/index.ts';
import { messageOf } from './base/index.ts';
import { ConfigError, type Settings } from './config/index.ts';
import type { TextRecognition } from './contract/index.ts';
import { findRecognitionPackages } from './pool/index.ts';
import { openThesauri, type Thesauri } from './thesauri/index.ts';

/**
 * Makes the folder for backups, if there is to be one.
 * @throws ConfigError if the server cannot make backups in it
 */
export async function requireBackupFolder({ backup_dir, data_dir }: Settings): Promise<void> {
	if (backup_dir === undefined) return;
	try {
		await prepareBackupFolder(backup_dir, data_dir);
	} catch (cause) {
		throw new ConfigError(`Backups (PARLEY_BACKUP_DIR) are not possible. ${messageOf(cause)}`, { cause });
	}
}

/**
 * The packages for text recognition; undefined where it is off.
 * @throws ConfigError if packages are missing
 */
export function recognitionOf({ ocr, ocr_dir }: Settings): TextRecognition | undefined {
	if (ocr === undefined) return undefined;
	const found = findRecognitionPackages(ocr, ocr_dir);
	if ('problem' in found) throw new ConfigError(`Text recognition (PARLEY_OCR) is not possible. ${found.problem}`);
	return found.recognition;
}

/**
 * Opens the thesauri of the settings.
 * @throws ConfigError if a folder or a thesaurus cannot be read
 */
export async function thesauriOf({ thesauri: folders }: Settings): Promise<Thesauri> {
	try {
		return await openThesauri(folders);
	} catch (error) {
		throw new ConfigError(messageOf(error));
	}
}
