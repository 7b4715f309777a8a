import { formsStoreContract } from '../contract/forms-store.contract.ts'
import { startStoreUnderTest } from './testing.ts'

formsStoreContract(await startStoreUnderTest(), ['changes'])
