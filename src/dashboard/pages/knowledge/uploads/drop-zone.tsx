import { useEffect, useRef, useState } from 'preact/hooks';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { count, strings } from '../../../languages/index.ts';
import { type ChosenFile, chosenFiles, droppedFiles } from './chosen-files.ts';
import type { UploadQueue } from './upload-queue.ts';

/** Takes files and folders: dropped anywhere on the page, or chosen. */
export function DropZone({ queue }: { queue: UploadQueue }) {
	const t = strings().knowledgePages;
	const add = (files: readonly ChosenFile[]) => {
		if (files.length === 0) return showToast(t.noFiles, { isError: true });
		const leftOut = queue.add(files);
		if (leftOut > 0) showToast(count(t.tooManyFiles, leftOut), { isError: true });
	};
	const isOver = useDrops((data) => void droppedFiles(data).then(add, () => showToast(t.noFiles, { isError: true })));
	return (
		<section class={isOver ? 'drop-zone drop-now' : 'drop-zone'} aria-label={t.addFiles}>
			<Icon name="upload" />
			{isOver ? (
				<p>{t.dropNow}</p>
			) : (
				<div class="actions">
					<span class="drop-hint">{t.dropHere}</span>
					<FileButton label={t.addFiles} isPrimary onChosen={add} />
					<FileButton label={t.addFolder} isFolder onChosen={add} />
				</div>
			)}
			<p class="hint">{t.dropTypes}</p>
		</section>
	);
}

/** A button that opens the browser's choice of files, or of a folder. */
function FileButton({
	label,
	isFolder = false,
	isPrimary = false,
	onChosen,
}: {
	label: string;
	isFolder?: boolean;
	isPrimary?: boolean;
	onChosen: (files: ChosenFile[]) => void;
}) {
	const field = useRef<HTMLInputElement>(null);
	return (
		<>
			<Button
				icon={isFolder ? 'folder' : 'plus'}
				look={isPrimary ? 'primary' : 'secondary'}
				onClick={() => field.current?.click()}
			>
				{label}
			</Button>
			<input
				ref={field}
				type="file"
				hidden
				multiple
				{...(isFolder ? { webkitdirectory: true } : {})}
				onChange={({ currentTarget }) => {
					if (currentTarget.files) onChosen(chosenFiles(currentTarget.files));
					// The same file can be chosen again.
					currentTarget.value = '';
				}}
			/>
		</>
	);
}

/** Whether files are dragged over the page. */
function useDrops(onDrop: (data: DataTransfer) => void): boolean {
	const [isOver, setOver] = useState(false);
	const drop = useRef(onDrop);
	drop.current = onDrop;
	useEffect(() => {
		const over = (event: DragEvent) => {
			if (!event.dataTransfer?.types.includes('Files')) return;
			event.preventDefault();
			setOver(true);
		};
		const leave = (event: DragEvent) => {
			// Otherwise the pointer has only entered another element of the page.
			if (event.relatedTarget === null) setOver(false);
		};
		const take = (event: DragEvent) => {
			setOver(false);
			if (!event.dataTransfer?.types.includes('Files')) return;
			event.preventDefault();
			drop.current(event.dataTransfer);
		};
		// A drop on an element that the pointer has just entered is accepted by `dragenter` alone (HTML Standard, drag-and-drop processing model).
		addEventListener('dragenter', over);
		addEventListener('dragover', over);
		addEventListener('dragleave', leave);
		addEventListener('drop', take);
		return () => {
			removeEventListener('dragenter', over);
			removeEventListener('dragover', over);
			removeEventListener('dragleave', leave);
			removeEventListener('drop', take);
		};
	}, []);
	return isOver;
}
