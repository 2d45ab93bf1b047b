export { type BackupFile, listBackups, removeOldBackups } from './backup-files.ts';
export { FolderTimeout, isBackupFolder, prepareBackupFolder, withFolderDeadline } from './backup-folder.ts';
export { runBackupProcess, thisProgram } from './backup-process.ts';
export { BackupSchedule, type BackupScheduleOptions } from './backup-schedule.ts';
export { type Backup, type BackupOptions, createBackup } from './create-backup.ts';
export type { Manifest } from './manifest.ts';
export { type RestoreOptions, restoreBackup } from './restore-backup.ts';
export { verifyBackup } from './verify-backup.ts';
