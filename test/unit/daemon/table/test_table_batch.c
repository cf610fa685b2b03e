/*
 * test_table_batch.c - the cells of Jobs and CronJobs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

#define CONDITION(type) \
    "'spec':{'completions':1},'status':{'conditions':[{'type':'" type "','status':'True'}]}"
#define STATUS(status) "'x','" status "','0/1','','60m','','','<none>'"

static void shows_the_status_of_jobs(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{}", STATUS("Running")},
        {CONDITION("Complete"), STATUS("Complete")},
        {CONDITION("Failed"), STATUS("Failed")},
        {CONDITION("Suspended"), STATUS("Suspended")},
        {CONDITION("FailureTarget"), STATUS("FailureTarget")},
        {CONDITION("SuccessCriteriaMet"), STATUS("SuccessCriteriaMet")},
        {"'status':{'conditions':[{'type':'Complete','status':'False'}]}", STATUS("Running")},
        {"'metadata':{'name':'x','creationTimestamp':'2026-11-18T11:00:00Z',"
         "'deletionTimestamp':'2026-11-18T12:00:00Z'},'status':{'conditions':["
         "{'type':'Suspended','status':'True'}]}",
         STATUS("Terminating")},
    };
    (void)state;
    expect_cases("batch", "jobs", cases, ARRAY_LEN(cases));
}

static void shows_completions_and_durations(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'completions':5,'parallelism':3},'status':{'succeeded':2,"
         "'startTime':'2026-11-18T11:58:20Z'}",
         "'x','Running','2/5','100s','60m','','','<none>'"},
        {"'spec':{'parallelism':3},'status':{'startTime':'2026-11-18T11:00:00Z',"
         "'completionTime':'2026-11-18T11:00:07Z'}",
         "'x','Running','0/1 of 3','7s','60m','','','<none>'"},
        {"'spec':{'parallelism':1,'selector':{'matchLabels':{'u':'1'}},'template':{'spec':{"
         "'containers':[{'name':'a','image':'i'}]}}}",
         "'x','Running','0/1','','60m','a','i','u=1'"},
    };
    (void)state;
    expect_cases("batch", "jobs", cases, ARRAY_LEN(cases));
}

static void shows_cron_jobs(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'schedule':'*/5 * * * *','timeZone':'Etc/UTC','suspend':false,'jobTemplate':{"
         "'spec':{'template':{'spec':{'containers':[{'name':'a','image':'i'}]}}}}},"
         "'status':{'active':[{},{}],'lastScheduleTime':'2026-11-18T11:55:00Z'}",
         "'x','*/5 * * * *','Etc/UTC','False',2,'5m','60m','a','i','<none>'"},
        {"'spec':{'schedule':'@daily','suspend':true}",
         "'x','@daily','<none>','True',0,'<none>','60m','','','<none>'"},
        {"'spec':{'schedule':'@daily'}",
         "'x','@daily','<none>','<unset>',0,'<none>','60m','','','<none>'"},
    };
    (void)state;
    expect_cases("batch", "cronjobs", cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_status_of_jobs),
        cmocka_unit_test(shows_completions_and_durations),
        cmocka_unit_test(shows_cron_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
