import { maskSchemaOf } from '@fms/aip'
import { Form, Revision } from '@fms/contracts'

export const formMembers = maskSchemaOf(Form)
export const revisionMembers = maskSchemaOf(Revision)
