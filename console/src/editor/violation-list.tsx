import type { FieldViolation } from '@fms/client'

/** Violations of fields that are not shown, with their paths. */
export const ViolationList = ({ violations }: { violations: readonly FieldViolation[] }) => (
  <>
    {violations.map(({ field, description }) => (
      <p key={`${field} ${description}`} class="violation">
        <code>{field}</code> {description}
      </p>
    ))}
  </>
)

/** Descriptions of violations below the heading of what they are about. */
export const ViolationTexts = ({ texts }: { texts: readonly string[] }) => (
  <>
    {texts.map((text) => (
      <p key={text} class="violation">
        {text}
      </p>
    ))}
  </>
)
