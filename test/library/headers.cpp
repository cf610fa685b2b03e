/*
 * headers.cpp - uses the library from C++. test_install.py adds an #include of each public header, builds and runs it.
 * No client is opened, because there is no kubeconfig.
 */
#include <cstdio>
#include <cstring>

#include <uv.h>

struct Printer : inf_handler {
    Printer() : inf_handler()
    {
        on_event = print;
    }

    static void print(inf_handler *handler, inf_informer *informer, const inf_event *event)
    {
        Printer *self = static_cast<Printer *>(handler);
        (void)informer;
        self->count++;
        std::printf("%s %s\n", inf_verb_name(event->verb),
                    inf_object_name(inf_event_object(event)));
    }

    unsigned count = 0;
};

int main()
{
    inf_client_options options = inf_client_options();
    inf_watch watch = inf_watch();
    inf_queue_options queue = inf_queue_options();
    inf_cursor cursor = INF_CURSOR_START;
    inf_error err = inf_error();
    Printer printer;
    options.kubeconfig = "/nonexistent";
    watch.resource = "pods";
    queue.workers = 4;
    inf_cursor_end(&cursor);
    inf_handler_remove(&printer);
    if (inf_client_open(uv_default_loop(), &options, &err) || !err.code)
        return 1;
    std::printf("%s: %s\n", inf_version(), err.text);
    return queue.workers == 4 ? inf_resource_check(watch.resource, nullptr) : 1;
}
