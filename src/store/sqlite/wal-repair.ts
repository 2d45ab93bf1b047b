import { copyFileSync, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError, fsyncFolder } from '../../base/index.ts';
import { databaseFile, openWritable } from './connection.ts';
import { lockDataFolder } from './file-lock.ts';
import { findWalDamage, type WalDamage } from './wal-inspection.ts';

/** What a repair did. */
export interface LogRepair {
	damage: WalDamage;
	/** The copy of the damaged log. */
	copy: string;
}

/**
 * The first writing connection would go on without the commits after the damage and remove them.
 * @throws AppError `unavailable` where the write-ahead log is damaged in its middle
 */
export function requireSoundLog(dataDir: string): void {
	const damage = findWalDamage(databaseFile(dataDir));
	if (damage === null) return;
	const remedy = damage.isCopied
		? 'Restore a backup'
		: 'Restore a backup, or run "parley database repair" to continue without them';
	throw new AppError('unavailable', `The database in ${dataDir} is damaged: ${walSentence(damage)}. ${remedy}.`);
}

/**
 * Drops the commits from the damage of the write-ahead log on, and keeps a copy of the log. After a crash at any line it may be repeated.
 * @param moment a part of the copy's name
 * @returns null where the log is sound
 * @throws AppError `unavailable` while a server runs there, and where the database has pages of those commits
 */
export async function repairLog(dataDir: string, moment: string): Promise<LogRepair | null> {
	using _lock = lockDataFolder(dataDir);
	const log = `${databaseFile(dataDir)}-wal`;
	const damage = findWalDamage(databaseFile(dataDir));
	if (damage === null) return null;
	if (damage.isCopied)
		throw new AppError(
			'unavailable',
			`The database in ${dataDir} cannot be repaired: ${walSentence(damage)}. Nothing was changed. Restore a backup.`,
		);
	const copy = `${log}.damaged-${moment}`;
	if (existsSync(copy)) throw new AppError('unavailable', `${copy} exists: try again in a second.`);
	copyFileSync(log, copy);
	await syncFile(copy);
	await fsyncFolder(dirname(copy));
	const db = openWritable(databaseFile(dataDir));
	try {
		db.pragma('wal_checkpoint(TRUNCATE)');
	} finally {
		db.close();
	}
	return { damage, copy };
}

/** A clause about damage of the write-ahead log. */
export function walSentence({ frame, commits, isCopied }: WalDamage): string {
	const lost =
		frame === 0
			? 'the header of its write-ahead log is damaged, and the commits of the log cannot be read'
			: `its write-ahead log is damaged at frame ${frame}, and ${commits} commits from there on cannot be read`;
	return isCopied ? `${lost}; some of their pages may be in the database, which cannot continue without them` : lost;
}

async function syncFile(path: string): Promise<void> {
	const file = await open(path, 'r');
	try {
		await file.sync();
	} finally {
		await file.close();
	}
}
