import type { FormRecord } from '@fms/contracts'
import type { ChangeEngine } from './change-engine.ts'

/** Each form once, whatever is deleted or restored meanwhile. Deleted forms come last, with those that were deleted before. */
export async function* exportForms(engine: ChangeEngine, organizationId: string): AsyncGenerator<FormRecord> {
  const deletedBefore = await Array.fromAsync(engine.formsByPublicId(organizationId, true))
  const exported = new Set<string>()
  for await (const form of engine.formsByPublicId(organizationId, false)) {
    const record = await engine.readRecord(form)
    // It may be restored before the deleted ones are read.
    if (record?.deletion) deletedBefore.push(form)
    if (!record || record.deletion) continue
    exported.add(form.formId)
    yield record
  }
  const deletedNow = await Array.fromAsync(engine.formsByPublicId(organizationId, true))
  const others = new Map([...deletedBefore, ...deletedNow].map((form) => [form.publicId, form]))
  for (const [, form] of [...others].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const record = exported.has(form.formId) ? undefined : await engine.readRecord(form)
    if (record) yield record
  }
}
