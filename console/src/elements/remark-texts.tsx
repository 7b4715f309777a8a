/** What is said about a value: violations keep it from being saved, warnings prevent nothing. */
export interface RemarksAbout<Remark> {
  violations: readonly Remark[]
  warnings: readonly Remark[]
}

export type RemarkKind = keyof RemarksAbout<unknown>

/** The kinds, the worst one first. */
export const remarkKinds = ['violations', 'warnings'] as const satisfies RemarkKind[]

/** The names of the kinds in the style sheet. */
export const remarkClasses = { violations: 'violation', warnings: 'warning' } as const

export const RemarkTexts = ({ violations = [], warnings = [] }: Partial<RemarksAbout<string>>) => {
  const remarks = { violations, warnings }
  return (
    <>
      {remarkKinds.flatMap((kind) =>
        remarks[kind].map((text) => (
          <div key={`${kind} ${text}`} class={remarkClasses[kind]}>
            {text}
          </div>
        )),
      )}
    </>
  )
}
