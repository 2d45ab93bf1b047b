import { useEffect, useRef } from 'preact/hooks';
import { changeQuery, linkTo } from '../../app/route.ts';
import { Button } from '../../components/button.tsx';
import { ShortId } from '../../components/copy-button.tsx';
import { DetailList } from '../../components/detail-list.tsx';
import { absoluteText } from '../../components/time.tsx';
import { strings } from '../../languages/index.ts';
import type { AuditRecord } from './queries.ts';
import { kindOf, verbOf } from './words.ts';

/** One record in a dialog, with filters for further changes. The browser returns the focus when it closes. */
export function RecordDialog({ record }: { record: AuditRecord }) {
	const s = strings();
	const t = s.accessPages;
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => dialog.current?.showModal(), []);
	const { actor, action, resource, fields } = record;
	const filter = (query: Record<string, string>) => changeQuery({ ...query, record: undefined });
	const items = [
		{ label: t.when, value: absoluteText(new Date(record.created_at)) },
		{ label: t.who, value: <Named name={actor.name} id={actor.id} /> },
		{ label: t.on, value: <Named name={`${kindOf(resource.type)} ${resource.name ?? ''}`} id={resource.id} /> },
		{ label: s.privacyPages.receipt, value: resource.type === 'erasure' ? <ReceiptLink id={resource.id} /> : null },
		{ label: t.fields, value: fields.join(', ') },
		{ label: t.action, value: <code>{action}</code> },
		{ label: t.path, value: <code>{record.path}</code> },
		{ label: t.request, value: <ShortId id={record.request_id} /> },
		{ label: t.address, value: record.address },
	];
	return (
		<dialog
			ref={dialog}
			class="dialog record-dialog"
			aria-labelledby="record-title"
			onClose={() => changeQuery({ record: undefined })}
		>
			<h2 id="record-title">{verbOf(action)}</h2>
			<DetailList items={items} />
			<div class="actions">
				<Button onClick={() => filter({ actor: actor.id })}>{t.moreOfActor}</Button>
				<Button onClick={() => filter({ resource: resource.id })}>{t.moreOfResource}</Button>
				<Button onClick={() => filter({ action })}>{t.moreOfAction}</Button>
				<Button look="primary" onClick={() => dialog.current?.close()}>
					{s.close}
				</Button>
			</div>
		</dialog>
	);
}

function ReceiptLink({ id }: { id: string }) {
	return <a href={linkTo(['privacy', id])}>{strings().privacyPages.receiptTitle}</a>;
}

function Named({ name, id }: { name: string; id: string }) {
	return (
		<>
			{name} <ShortId id={id} />
		</>
	);
}
