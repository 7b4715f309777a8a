import type { JsonValue } from '@fms/client'
import { type RemarkKind, remarkClasses, remarkKinds } from '../elements/remark-texts.tsx'
import { TitleText } from '../elements/title.tsx'
import { asSteps } from '../preview/as-form.ts'
import { wordsOfField } from '../publish/change-words.ts'
import { texts } from '../texts.ts'
import type { Remarks } from './remarks.ts'

/** Remarks about fields that are not shown, with the fields in words. */
export const RemarkList = ({ remarks, steps }: { remarks: Remarks; steps?: readonly JsonValue[] }) => {
  const shown = asSteps(steps)
  return (
    <>
      {remarkKinds.flatMap((kind) =>
        remarks[kind].map(({ field, description }) => (
          <p key={`${kind} ${field} ${description}`} class={remarkClasses[kind]}>
            <TitleText title={wordsOfField(field, shown)} />: {description}
          </p>
        )),
      )}
    </>
  )
}

/** Marks what there are remarks about. */
export const RemarkBadge = ({ kind }: { kind: RemarkKind | undefined }) =>
  kind ? <span class={`badge ${remarkClasses[kind]}`}>{texts.remarks[kind]}</span> : null
